internal import Synchronization

/// Collects what happens, from any thread, and lets a test wait for it.
///
/// ```swift
/// let recorder = EventRecorder<TaskState>()
/// task.onStateChange { recorder.record($0) }
/// try await recorder.wait { $0.last == .completed }
/// ```
public final class EventRecorder<Event: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Void, Never>

    private struct State {
        var events: [Event] = []
        var waiters: [UInt64: Waiter] = [:]
        var lastKey: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Makes a recorder with nothing in it.
    public init() {}

    /// What happened so far, in order.
    public var events: [Event] { state.withLock { $0.events } }

    /// Notes an event.
    public func record(_ event: Event) {
        let waiters = state.withLock { state in
            state.events.append(event)
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until what happened meets a condition, and returns it.
    ///
    /// Throws `CancellationError` when the caller's task is cancelled, as a test's time limit does.
    @discardableResult
    public func wait(until condition: ([Event]) -> Bool) async throws -> [Event] {
        while true {
            try Task.checkCancellation()
            let events = events
            if condition(events) { return events }
            await waitForMore(than: events.count)
        }
    }

    /// Waits until this many events happened, and returns them.
    @discardableResult
    public func wait(count: Int) async throws -> [Event] {
        try await wait { $0.count >= count }
    }

    private func waitForMore(than count: Int) async {
        let key = state.withLock { state in
            state.lastKey += 1
            return state.lastKey
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = state.withLock { state in
                    if state.events.count > count || Task.isCancelled { return true }
                    state.waiters[key] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: key) }?.resume()
        }
    }
}
