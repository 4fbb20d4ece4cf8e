internal import Glibc

/// One message from the kernel. Only the parts that this module needs are parsed.
struct NetlinkMessage: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        case link(NetworkLink.Update)
        case linkRemoved(index: Int32)
        case address(NetworkAddress, isUsable: Bool)
        case addressRemoved(NetworkAddress)
        /// A default route, or half of one, in a table that applies to every lookup: one element per interface.
        case defaultRoute([NetworkRoute])
        case defaultRouteRemoved
        /// Another route, which can affect the look-up of an address.
        case otherRoute
        /// A policy rule, which selects the table of a look-up.
        case ruleChanged
        case nexthopChanged
        /// The end of a dump, with its error number, or 0.
        case done(Int32)
        case error(Int32)
        case overrun
        /// A message that does not affect the status.
        case irrelevant
    }

    var flags: UInt16
    var sequence: UInt32
    /// The port of the socket that sent the answered request, or that caused the notification.
    var port: UInt32
    var content: Content

    var isInterruptedDump: Bool { flags & NetlinkHeader.dumpInterrupted != 0 }
}

/// The messages of one datagram.
struct NetlinkDatagram: Sendable {
    /// The messages that could be parsed, in order.
    private(set) var messages: [NetlinkMessage] = []
    /// Whether any part of the datagram could not be parsed.
    private(set) var isMalformed = false

    init(_ bytes: ArraySlice<UInt8>) {
        var isMalformed = false
        let isComplete = NetlinkBytes(bytes).forEachMessage { header, body in
            if let content = NetlinkMessage.Content(type: header.type, body: body) {
                messages.append(
                    NetlinkMessage(
                        flags: header.flags, sequence: header.sequence, port: header.port, content: content))
            } else {
                isMalformed = true
            }
        }
        self.isMalformed = isMalformed || !isComplete
    }
}

extension NetlinkMessage.Content {
    /// Parses the body of a message; nil when it is malformed.
    init?(type: UInt16, body: NetlinkBytes) {
        let content: NetlinkMessage.Content? =
            switch type {
            case NetlinkType.newLink, NetlinkType.deleteLink:
                Self.link(body, isRemoval: type == NetlinkType.deleteLink)
            case NetlinkType.newAddress, NetlinkType.deleteAddress:
                Self.address(body, isRemoval: type == NetlinkType.deleteAddress)
            case NetlinkType.newRoute, NetlinkType.deleteRoute:
                Self.route(body, isRemoval: type == NetlinkType.deleteRoute)
            case NetlinkType.newRule, NetlinkType.deleteRule: .ruleChanged
            case NetlinkType.newNexthop, NetlinkType.deleteNexthop: .nexthopChanged
            // A kernel may end a dump without an error number.
            case NetlinkType.done: .done(body.int32(at: 0) ?? 0)
            case NetlinkType.error: body.int32(at: 0).map { .error($0) }
            case NetlinkType.overrun: .overrun
            default: .irrelevant
            }
        guard let content else { return nil }
        self = content
    }

    /// `struct ifinfomsg`: family, padding, hardware type, index, flags, change mask.
    private static func link(_ body: NetlinkBytes, isRemoval: Bool) -> Self? {
        guard let family = body.uint8(at: 0), let hardwareType = body.uint16(at: 2), let index = body.int32(at: 4),
            let flags = body.uint32(at: 8), body.count >= 16
        else { return nil }
        // A bridge announces its ports in its own address family. A removal in it detaches the port, but the link
        // remains.
        guard family == AF_UNSPEC else { return .irrelevant }
        if isRemoval { return .linkRemoved(index: index) }
        var update = NetworkLink.Update(index: index, hardwareType: hardwareType, flags: flags)
        var isInfoComplete = true
        var isLowerElsewhere = false
        let isComplete = body.forEachAttribute(from: 16) { type, value in
            switch type {
            case NetlinkAttributeType.linkName: update.name = value.text
            case NetlinkAttributeType.linkMTU: update.mtu = value.uint32(at: 0)
            case NetlinkAttributeType.linkLower: update.lower = value.int32(at: 0)
            case NetlinkAttributeType.linkLowerNamespace: isLowerElsewhere = true
            case NetlinkAttributeType.linkOperationalState: update.operationalState = value.uint8(at: 0)
            case NetlinkAttributeType.linkInfo:
                isInfoComplete = value.forEachAttribute(from: 0) { type, value in
                    if type == NetlinkAttributeType.linkInfoKind { update.driverKind = value.text }
                }
            default: break
            }
        }
        // The number of an interface in another namespace means another interface here.
        if isLowerElsewhere { update.lower = 0 }
        return isComplete && isInfoComplete ? .link(update) : nil
    }

    /// `struct ifaddrmsg`: family, prefix length, flags, scope, index.
    private static func address(_ body: NetlinkBytes, isRemoval: Bool) -> Self? {
        guard let family = body.uint8(at: 0), let shortFlags = body.uint8(at: 2), let scope = body.uint8(at: 3),
            let index = body.int32(at: 4)
        else { return nil }
        guard let family = NetworkFamily(family) else { return .irrelevant }
        var flags = UInt32(shortFlags)
        var bytes: [UInt8] = []
        var localBytes: [UInt8]?
        let isComplete = body.forEachAttribute(from: 8) { type, value in
            switch type {
            case NetlinkAttributeType.addressBytes: bytes = value.array
            case NetlinkAttributeType.addressLocalBytes: localBytes = value.array
            case NetlinkAttributeType.addressFlags: flags = value.uint32(at: 0) ?? flags
            default: break
            }
        }
        guard isComplete else { return nil }
        // On a point-to-point link the address attribute is the peer's address, and the local attribute is ours.
        let address = NetworkAddress(family: family, interface: index, scope: scope, bytes: localBytes ?? bytes)
        if isRemoval { return .addressRemoved(address) }
        return .address(address, isUsable: NetworkAddress.isUsable(flags: flags))
    }
}
