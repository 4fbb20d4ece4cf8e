internal import NIOCore
internal import Synchronization

/// The origins whose servers have said of late that they require HTTP/1.1 (RFC 9113, 7: HTTP_1_1_REQUIRED).
final class HTTP1Origins: Sendable {
    /// How long an origin is remembered.
    private static let time = TimeAmount.hours(1)
    /// How many are remembered; beyond that, the one that was remembered first is forgotten.
    private static let most = 1_000

    private let ends = Mutex<[Origin: NIODeadline]>([:])
    /// Read without the lock by each request: most transports never remember one.
    private let isEmpty = Atomic(true)

    func contains(_ origin: Origin, _ now: @autoclosure () -> NIODeadline) -> Bool {
        guard !isEmpty.load(ordering: .acquiring) else { return false }
        let now = now()
        return ends.withLock { $0[origin].map { $0 > now } ?? false }
    }

    func remember(_ origin: Origin, _ now: NIODeadline) {
        ends.withLock { ends in
            if ends.count >= Self.most {
                ends = ends.filter { $0.value > now }
                if ends.count >= Self.most, let first = ends.min(by: { $0.value < $1.value }) {
                    ends[first.key] = nil
                }
            }
            ends[origin] = now + Self.time
        }
        isEmpty.store(false, ordering: .releasing)
    }
}
