internal import Synchronization

/// Generates the IDs of requests, which are unique in the process.
enum TaskID {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 {
        last.add(1, ordering: .relaxed).newValue
    }
}
