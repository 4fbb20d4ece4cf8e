internal import Synchronization

/// Tells the readers of a store that it has changed.
package final class ChangeSignal: Sendable {
    private struct State {
        var lastKey: UInt64 = 0
        var readers: [UInt64: AsyncStream<Void>.Continuation] = [:]
        var isFinished = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns a stream of the changes from now on. Changes that were not read are one element.
    package func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let key = state.withLock { state -> UInt64? in
            guard !state.isFinished else { return nil }
            state.lastKey += 1
            state.readers[state.lastKey] = continuation
            return state.lastKey
        }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.readers.removeValue(forKey: key) }
        }
        return stream
    }

    package func tell() {
        for reader in state.withLock({ Array($0.readers.values) }) { reader.yield() }
    }

    package func finish() {
        let readers = state.withLock { state in
            defer { state.readers = [:] }
            state.isFinished = true
            return Array(state.readers.values)
        }
        for reader in readers { reader.finish() }
    }
}
