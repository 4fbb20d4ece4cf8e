internal import Glibc

extension NetlinkMessage.Content {
    /// Reads the body of a message; nil when it is malformed.
    init?(type: UInt16, body: NetlinkBytes) {
        let content: NetlinkMessage.Content? =
            switch type {
            case NetlinkType.newLink, NetlinkType.deleteLink:
                Self.link(body, isRemoval: type == NetlinkType.deleteLink)
            case NetlinkType.newAddress, NetlinkType.deleteAddress:
                Self.address(body, isRemoval: type == NetlinkType.deleteAddress)
            case NetlinkType.newRoute, NetlinkType.deleteRoute:
                Self.route(body, isRemoval: type == NetlinkType.deleteRoute)
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
        // A bridge announces its ports in its own family; a removal there takes the port from the bridge, and no link away.
        guard family == AF_UNSPEC else { return .irrelevant }
        if isRemoval { return .linkRemoved(index: index) }
        var update = NetworkLink.Update(index: index, hardwareType: hardwareType, flags: flags)
        var isInfoComplete = true
        let isComplete = body.forEachAttribute(from: 16) { type, value in
            switch type {
            case NetlinkAttributeType.linkName: update.name = value.text
            case NetlinkAttributeType.linkOperationalState: update.operationalState = value.uint8(at: 0)
            case NetlinkAttributeType.linkInfo:
                isInfoComplete = value.forEachAttribute(from: 0) { type, value in
                    if type == NetlinkAttributeType.linkInfoKind { update.driverKind = value.text }
                }
            default: break
            }
        }
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
        // On a point-to-point link the address attribute is the peer's, and the local one is ours.
        let address = NetworkAddress(family: family, interface: index, scope: scope, bytes: localBytes ?? bytes)
        if isRemoval { return .addressRemoved(address) }
        return .address(address, isUsable: NetworkAddress.isUsable(flags: flags))
    }
}
