internal import Glibc
internal import Synchronization

/// The thread and the descriptors that all monitors of a network namespace share.
final class NetworkEngine: Sendable {
    let mailbox: EngineMailbox
    private let thread: MonitoringThread

    /// The name of the thread in tools such as `top`.
    static let threadName = "linnet-reach"

    /// Starts the thread in the namespace of the calling thread.
    init(_ kind: SourceKind) throws(ReachabilityError) {
        // Subscribing comes before reading, so that no change is missed in between.
        let source = try kind.makeSource(groups: NetlinkGroup.all)
        let mailbox = try EngineMailbox()
        self.mailbox = mailbox
        thread = try MonitoringThread {
            Self.nameThread()
            var loop = NetworkLoop(source, mailbox)
            loop.run()
        }
    }

    private static func nameThread() {
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        let descriptor = OwnedDescriptor(owning: file)
        _ = write(descriptor.number, threadName, threadName.utf8.count)
    }

    /// Ends the thread, and waits for its end. Call it once.
    func end() {
        mailbox.post(.end)
        thread.join()
    }
}

/// The way of reading the network.
enum SourceKind: Hashable, Sendable {
    case netlink
    /// Reads `/proc/net` at an interval.
    case polling(Duration)

    /// Opens a source. A netlink socket joins the given multicast groups.
    func makeSource(groups: UInt32 = 0) throws(ReachabilityError) -> any NetworkSource {
        switch self {
        case .netlink: NetlinkSource(try NetlinkSocket(groups: groups))
        case .polling(let interval): try PollingSource(interval: interval)
        }
    }
}

/// The engines of this process, one for each combination of a network namespace with a monitor and a way of reading the
/// network.
enum EngineRegistry {
    struct Key: Hashable, Sendable {
        var namespace: NetworkNamespaceID
        var kind: SourceKind
    }

    private struct Entry: Sendable {
        let engine: NetworkEngine
        var members: Int
    }

    private static let entries = Mutex<[Key: Entry]>([:])

    /// Returns the running engine, or starts one.
    static func join(_ key: Key) throws(ReachabilityError) -> NetworkEngine {
        if let running = entries.withLock({ join(key, in: &$0) }) { return running }
        let engine = try NetworkEngine(key.kind)
        let other = entries.withLock { entries in
            let other = join(key, in: &entries)
            if other == nil { entries[key] = Entry(engine: engine, members: 1) }
            return other
        }
        guard let other else { return engine }
        // Another thread has started an engine meanwhile.
        engine.end()
        return other
    }

    /// Ends the engine with its last member.
    static func leave(_ key: Key) {
        let ended = entries.withLock { entries -> NetworkEngine? in
            entries[key]?.members -= 1
            guard let entry = entries[key], entry.members == 0 else { return nil }
            entries[key] = nil
            return entry.engine
        }
        ended?.end()
    }

    private static func join(_ key: Key, in entries: inout [Key: Entry]) -> NetworkEngine? {
        entries[key]?.members += 1
        return entries[key]?.engine
    }
}

/// Identifies the network namespace of a thread.
///
/// The number is not reused while an engine's socket keeps its namespace alive.
struct NetworkNamespaceID: Hashable, Sendable {
    private let device: UInt64
    private let number: UInt64

    /// The namespace of the calling thread. Without `/proc`, all are the same.
    static var current: NetworkNamespaceID {
        var entry = stat()
        guard stat("/proc/thread-self/ns/net", &entry) == 0 else { return NetworkNamespaceID(device: 0, number: 0) }
        return NetworkNamespaceID(device: UInt64(entry.st_dev), number: UInt64(entry.st_ino))
    }
}
