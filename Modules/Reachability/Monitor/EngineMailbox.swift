internal import Glibc
internal import Synchronization

/// Commands for the engine's thread, which waits in `poll`.
final class EngineMailbox: Sendable {
    enum Command: Sendable {
        case add(EngineMember)
        case remove(id: UInt64)
        case resolved(id: UInt64, HostResolver.Result)
        case probed(id: UInt64, Bool)
        /// A job has ended. Its result is another command.
        case jobEnded
        case end
    }

    private let commands = Mutex<[Command]>([])
    private let sender: OwnedDescriptor
    private let receiver: OwnedDescriptor
    /// The number of times that the engine's thread has returned from `poll`.
    let wakeUps = Atomic<Int>(0)

    init() throws(ReachabilityError) {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &numbers) == 0 else {
            throw ReachabilityError(.socketFailed, "A pair of sockets could not be opened", errorNumber: errno)
        }
        sender = OwnedDescriptor(owning: numbers[0])
        receiver = OwnedDescriptor(owning: numbers[1])
    }

    /// A descriptor that is readable while there are commands.
    var descriptor: Int32 { receiver.number }

    func post(_ command: Command) {
        let isFirst = commands.withLock { commands in
            commands.append(command)
            return commands.count == 1
        }
        var byte: UInt8 = 0
        // The flag prevents a signal when the other end is closed. If the buffer is full, the thread wakes up anyway.
        if isFirst { send(sender.number, &byte, 1, Int32(MSG_NOSIGNAL)) }
    }

    /// Returns the commands that were posted, in order.
    func take() -> [Command] {
        var bytes = [UInt8](repeating: 0, count: 64)
        while recv(receiver.number, &bytes, bytes.count, 0) == bytes.count {}
        return commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }
}
