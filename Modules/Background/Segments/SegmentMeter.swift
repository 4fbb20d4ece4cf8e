internal import LinnetSession
internal import Synchronization

/// Reports the progress of all segments, a few times a second.
final class SegmentMeter: Sendable {
    private struct State {
        var received: Int64
        var reported: ContinuousClock.Instant?
        /// The bytes a second, averaged over the last seconds.
        var rate: Double?
    }

    private static let interval = Duration.milliseconds(100)

    private let state: Mutex<State>
    private let tell: @Sendable (TransferProgress) -> Void

    init(received: Int64, _ tell: @escaping @Sendable (TransferProgress) -> Void) {
        state = Mutex(State(received: received))
        self.tell = tell
    }

    func report(_ map: SegmentMap) {
        let received = map.received
        let isWhole = map.isWhole
        let progress = state.withLock { state -> TransferProgress? in
            let now = ContinuousClock.now
            // Segments report on several threads, so an older map can come after a newer one.
            guard received >= state.received else { return nil }
            if let reported = state.reported {
                let time = now - reported
                guard time >= Self.interval || isWhole else { return nil }
                let rate = Double(received - state.received) / max(time / .seconds(1), 0.001)
                state.rate = state.rate.map { 0.8 * $0 + 0.2 * rate } ?? rate
            }
            (state.reported, state.received) = (now, received)
            return TransferProgress(completed: received, total: map.total, bytesPerSecond: state.rate)
        }
        if let progress { tell(progress) }
    }
}
