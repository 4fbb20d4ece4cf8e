internal import Glibc

/// Tells a thread that waits in `poll` to end.
final class StopSignal: Sendable {
    private let sender: OwnedDescriptor
    private let receiver: OwnedDescriptor

    init() throws(ReachabilityError) {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &numbers) == 0 else {
            throw ReachabilityError(.socketFailed, "Cannot open a pair of sockets", errorNumber: errno)
        }
        sender = OwnedDescriptor(owning: numbers[0])
        receiver = OwnedDescriptor(owning: numbers[1])
    }

    /// The descriptor that becomes readable, and stays so.
    var descriptor: Int32 { receiver.number }

    func send() { shutdown(sender.number, Int32(SHUT_RDWR)) }
}
