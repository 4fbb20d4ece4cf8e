internal import Glibc

/// Gathers the answer to one request: a pure state machine over the datagrams of a dump.
struct NetlinkDump: Sendable {
    enum Outcome: Hashable, Sendable {
        case complete
        /// Objects changed while they were listed, so some may be missing or twice.
        case interrupted
        /// The kernel's error number.
        case refused(Int32)
        case malformed
    }

    let sequence: UInt32
    private var isInterrupted = false
    private var isMalformed = false

    init(sequence: UInt32) { self.sequence = sequence }

    /// Takes one datagram over into the state; not nil at the end of the dump.
    ///
    /// A malformed dump is read to its end too, since the kernel refuses a new one on the socket until then.
    mutating func receive(_ datagram: NetlinkDatagram, into state: inout NetworkState) -> Outcome? {
        isMalformed = isMalformed || datagram.isMalformed
        // Another number belongs to a dump that was given up.
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
        // A kernel without the family has nothing to list.
        case UInt32(EAFNOSUPPORT), UInt32(EOPNOTSUPP): .complete
        case let code: .refused(Int32(clamping: code))
        }
    }
}
