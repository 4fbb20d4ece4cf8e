/// One message from the kernel, read as far as this module needs it.
struct NetlinkMessage: Hashable, Sendable {
    enum Content: Hashable, Sendable {
        case link(NetworkLink.Update)
        case linkRemoved(index: Int32)
        case address(NetworkAddress, isUsable: Bool)
        case addressRemoved(NetworkAddress)
        /// A default route, or half of one, in a table that every look-up sees: one element for each interface it is over.
        case defaultRoute([NetworkRoute])
        case defaultRouteRemoved
        case nexthopChanged
        /// The end of a dump, with the error that ended it, or 0.
        case done(Int32)
        case error(Int32)
        case overrun
        /// A message that cannot change the status.
        case irrelevant
    }

    var flags: UInt16
    var sequence: UInt32
    var content: Content

    var isInterruptedDump: Bool { flags & NetlinkHeader.dumpInterrupted != 0 }
}

/// The messages of one datagram.
struct NetlinkDatagram: Sendable {
    /// The messages that could be read, in order.
    private(set) var messages: [NetlinkMessage] = []
    /// Whether anything in the datagram could not be read.
    private(set) var isMalformed = false

    init(_ bytes: ArraySlice<UInt8>) {
        let bytes = NetlinkBytes(bytes)
        var position = 0
        while position < bytes.count {
            guard let length = bytes.uint32(at: position).flatMap(Int.init(exactly:)),
                let type = bytes.uint16(at: position + 4),
                let flags = bytes.uint16(at: position + 6), let sequence = bytes.uint32(at: position + 8),
                length <= bytes.count - position,
                let body = bytes.slice(from: position + NetlinkHeader.length, to: position + length)
            else {
                isMalformed = true
                return
            }
            if let content = NetlinkMessage.Content(type: type, body: body) {
                messages.append(NetlinkMessage(flags: flags, sequence: sequence, content: content))
            } else {
                isMalformed = true
            }
            position += NetlinkBytes.aligned(length)
        }
    }
}
