internal import LinnetMessages
internal import LinnetTransport
internal import Synchronization

/// Collects events from any thread, and lets a test wait for them.
///
/// ```swift
/// let recorder = EventRecorder<TaskState>()
/// task.onStateChange { recorder.record($0) }
/// try await recorder.wait { $0.last == .completed }
/// ```
public final class EventRecorder<Event: Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        var waiters = Waiters<Void>()
    }

    private let state = Mutex(State())

    /// Creates an empty recorder.
    public init() {}

    /// The events so far, in order.
    public var events: [Event] { state.withLock { $0.events } }

    /// Adds an event.
    public func record(_ event: Event) {
        let waiters = state.withLock { state in
            state.events.append(event)
            return state.waiters.takeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until the events meet a condition.
    ///
    /// - Parameter condition: The condition, which is evaluated after each event.
    /// - Returns: The events so far.
    /// - Throws: `CancellationError` when the task is cancelled, for example by a test's time limit.
    @discardableResult
    public func wait(until condition: ([Event]) -> Bool) async throws -> [Event] {
        while true {
            try Task.checkCancellation()
            let events = events
            if condition(events) { return events }
            await waitForMore(than: events.count)
        }
    }

    /// Waits until at least the given number of events was recorded.
    ///
    /// - Returns: The events so far.
    /// - Throws: `CancellationError` when the task is cancelled.
    @discardableResult
    public func wait(count: Int) async throws -> [Event] {
        try await wait { $0.count >= count }
    }

    private func waitForMore(than count: Int) async {
        await state.wait(in: { $1(&$0.waiters) }, ifCancelled: {}) { $0.events.count > count ? () : nil }
    }
}

/// A one-time event that tests wait for.
package final class Signal: Sendable {
    private let recorder = EventRecorder<Void>()

    package init() {}

    package var hasFired: Bool { !recorder.events.isEmpty }

    /// Resumes the tasks that wait, and lets later ones pass.
    package func fire() {
        recorder.record(())
    }

    /// Returns when the signal has fired or the task is cancelled.
    package func wait() async {
        _ = try? await recorder.wait(count: 1)
    }
}
