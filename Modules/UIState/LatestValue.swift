internal import Synchronization

/// Delivers a value and its changes to any number of readers. A slow reader misses intermediate values, never the last.
final class LatestValue<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var lastKey: UInt64 = 0
        var readers: [UInt64: AsyncStream<Value>.Continuation] = [:]
    }

    private let state: Mutex<State>

    init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    deinit {
        for reader in state.withLock({ $0.readers }).values { reader.finish() }
    }

    /// Called by one thread at a time.
    func send(_ value: Value) {
        let (readers, former) = state.withLock { state in
            defer { state.value = value }
            return (state.readers, state.value)
        }
        // Released after unlocking, since it can be the program's.
        withExtendedLifetime(former) {}
        for reader in readers.values { reader.yield(value) }
    }

    /// The current value, then each new one; ends when this object is deallocated.
    var stream: AsyncStream<Value> {
        let (stream, continuation) = AsyncStream<Value>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let (key, value) = state.withLock { state in
            state.lastKey += 1
            state.readers[state.lastKey] = continuation
            return (state.lastKey, state.value)
        }
        continuation.yield(value)
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: key) }
        }
        return stream
    }
}
