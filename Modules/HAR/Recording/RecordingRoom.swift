internal import HTTPTypes
internal import Synchronization

/// The memory that a recorder may still take.
final class RecordingRoom: Sendable {
    private let left: Atomic<Int>

    init(_ size: Int) { left = Atomic(max(0, size)) }

    /// Takes up to a number of bytes. Returns how many.
    func take(upTo count: Int) -> Int {
        var seen = left.load(ordering: .relaxed)
        while true {
            let taken = min(seen, count)
            let (exchanged, original) = left.compareExchange(
                expected: seen, desired: seen - taken, ordering: .relaxed)
            if exchanged { return taken }
            seen = original
        }
    }

    /// Takes a number of bytes, or none. Returns whether they were there.
    func take(_ count: Int) -> Bool {
        let taken = take(upTo: count)
        if taken < count { give(taken) }
        return taken == count
    }

    func give(_ count: Int) { left.add(count, ordering: .relaxed) }
}

extension HTTPRequest {
    /// An upper bound of the memory of a request's head, with its record.
    var sizeInMemory: Int {
        1024 + (path?.utf8.count ?? 0) + (authority?.utf8.count ?? 0) + method.rawValue.utf8.count
            + headerFields.sizeInMemory
    }
}

extension HTTPFields {
    /// An upper bound of the memory of fields.
    var sizeInMemory: Int { reduce(0) { $0 + 96 + $1.name.rawName.utf8.count + $1.value.utf8.count } }
}
