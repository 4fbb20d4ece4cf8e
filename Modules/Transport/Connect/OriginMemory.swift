internal import NIOCore
internal import Synchronization

/// What servers have said of late about their origins, for the connections that are opened next.
final class OriginMemory<Value: Sendable>: Sendable {
    private struct Entry {
        let value: Value
        let end: NIODeadline
    }

    /// How long a value is remembered.
    private let time = TimeAmount.hours(1)
    /// How many origins are remembered; beyond that, the one that was remembered first is forgotten.
    private let most = 1_000

    private let entries = Mutex<[Origin: Entry]>([:])
    /// Read without the lock by each request: most transports never remember anything.
    private let isEmpty = Atomic(true)

    func value(for origin: Origin, _ now: @autoclosure () -> NIODeadline) -> Value? {
        guard !isEmpty.load(ordering: .acquiring) else { return nil }
        let now = now()
        return entries.withLock { entries in
            entries[origin].flatMap { $0.end > now ? $0.value : nil }
        }
    }

    func remember(_ value: Value, for origin: Origin, _ now: NIODeadline) {
        let entry = Entry(value: value, end: now + time)
        entries.withLock { entries in
            if entries.count >= most {
                entries = entries.filter { $0.value.end > now }
                if entries.count >= most, let first = entries.min(by: { $0.value.end < $1.value.end }) {
                    entries[first.key] = nil
                }
            }
            entries[origin] = entry
        }
        isEmpty.store(false, ordering: .releasing)
    }
}
