internal import FoundationEssentials
internal import LinnetSerialization
internal import Synchronization

/// The limit for all transfers of a session, or for one of them.
final class Bandwidth: Sendable {
    /// The longest single wait. A limit that is raised ends longer ones early.
    private static let longestWait = Duration.milliseconds(500)

    private struct State {
        var bucket: TokenBucket
        /// The number of changes of the rate.
        var changes = 0
    }

    private let state: Mutex<State>

    init(_ rate: Int64? = nil) { state = Mutex(State(bucket: TokenBucket(rate: rate, at: .now))) }

    func setRate(_ rate: Int64?) {
        state.withLock { state in
            if state.bucket.setRate(rate, at: .now) { state.changes += 1 }
        }
    }

    /// Waits until bytes that were transferred are within the limit, until the limit changes, or until the task is
    /// cancelled.
    func pace(_ bytes: Int) async {
        let (wait, changes) = state.withLock { ($0.bucket.take(bytes, at: .now), $0.changes) }
        var rest = wait
        while rest > .zero, changes == state.withLock({ $0.changes }) {
            let part = min(rest, Self.longestWait)
            do { try await Task.sleep(for: part) } catch { return }
            rest -= part
        }
    }
}

/// Reads the body of an upload no faster than a limit.
struct PacedBodyReader: HTTPRequestBodyReader {
    var base: any HTTPRequestBodyReader
    let pace: @Sendable (Int) async -> Void

    mutating func next() async throws -> Data? {
        guard let chunk = try await base.next() else { return nil }
        await pace(chunk.count)
        return chunk
    }
}
