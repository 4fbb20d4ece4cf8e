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
    /// The port of the socket that sent the request.
    let port: UInt32
    private var isInterrupted = false
    private var isMalformed = false

    init(sequence: UInt32, port: UInt32 = 0) {
        self.sequence = sequence
        self.port = port
    }

    /// Adds the content of one datagram to the state, and returns the outcome at the end of the dump.
    ///
    /// A malformed dump is read to its end, because the kernel refuses another one on the socket until then.
    mutating func receive(_ datagram: NetlinkDatagram, into state: inout NetworkState) -> Outcome? {
        isMalformed = isMalformed || datagram.isMalformed
        // Messages with another sequence number belong to a dump that was abandoned, or are notifications.
        for message in datagram.messages where message.sequence == sequence && message.port == port {
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
        // A kernel has nothing to list for an unsupported address family, or for a table that does not exist.
        case UInt32(EAFNOSUPPORT), UInt32(EOPNOTSUPP), UInt32(ENOENT): .complete
        case let code: .refused(Int32(clamping: code))
        }
    }
}
