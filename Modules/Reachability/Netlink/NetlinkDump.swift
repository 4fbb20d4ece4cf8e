internal import Glibc

/// Collects the response to one dump request: a pure state machine over its datagrams.
struct NetlinkDump: Sendable {
    enum Outcome: Hashable, Sendable {
        case complete
        /// Objects changed during the dump, so some may be missing or listed twice.
        case interrupted
        /// The kernel refused the request with this error number.
        case refused(Int32)
        case malformed
    }

    let sequence: UInt32
    private var isInterrupted = false
    private var isMalformed = false

    init(sequence: UInt32) { self.sequence = sequence }

    /// Adds the content of one datagram to the state, and returns the outcome at the end of the dump.
    ///
    /// A malformed dump is read to its end, because the kernel refuses another one on the socket until then.
    mutating func receive(_ datagram: NetlinkDatagram, into state: inout NetworkState) -> Outcome? {
        isMalformed = isMalformed || datagram.isMalformed
        // Messages with another sequence number belong to a dump that was abandoned.
        for message in datagram.messages where message.sequence == sequence {
            isInterrupted = isInterrupted || message.isInterruptedDump
            switch message.content {
            case .done(let code), .error(let code): return outcome(code)
            case .overrun: isInterrupted = true
            default: state.add(message.content)
            }
        }
        return nil
    }

    private func outcome(_ code: Int32) -> Outcome {
        switch code.magnitude {
        case 0: isMalformed ? .malformed : isInterrupted ? .interrupted : .complete
        // A kernel without support for the address family has nothing to list.
        case UInt32(EAFNOSUPPORT), UInt32(EOPNOTSUPP): .complete
        case let code: .refused(Int32(clamping: code))
        }
    }
}

/// A request to dump all links, or the addresses or routes of one family.
struct NetlinkRequest: Hashable, Sendable {
    /// The name of the requested objects for error messages.
    var subject: String
    var type: UInt16
    var family: UInt8
    /// The length of the structure after the header, in which only the family is set.
    var bodyLength: Int

    /// The requests for a whole `NetworkState`. Objects come before the objects that refer to them.
    static let all: [NetlinkRequest] =
        [NetlinkRequest(subject: "links", type: NetlinkType.getLink, family: UInt8(AF_UNSPEC), bodyLength: 16)]
        + NetworkFamily.allCases.map {
            NetlinkRequest(subject: "addresses", type: NetlinkType.getAddress, family: $0.number, bodyLength: 8)
        }
        + NetworkFamily.allCases.map {
            NetlinkRequest(subject: "routes", type: NetlinkType.getRoute, family: $0.number, bodyLength: 12)
        }

    func encoded(sequence: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        }
        append(UInt32(NetlinkHeader.length + bodyLength))
        append(type)
        append(NetlinkHeader.request | NetlinkHeader.dump)
        append(sequence)
        append(UInt32(0))
        bytes.append(family)
        bytes.append(contentsOf: repeatElement(0, count: bodyLength - 1))
        return bytes
    }
}
