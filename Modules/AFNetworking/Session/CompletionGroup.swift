internal import LinnetMessages
public import LinnetSession
internal import LinnetTransport
internal import Synchronization

/// Counts running requests, and waits for their end.
///
/// ```swift
/// let group = CompletionGroup()
/// let session = try HTTPSession { $0.completionGroup = group }
/// // … start requests …
/// await group.wait()
/// ```
/// A request counts from its start until its callbacks were called, even while it is suspended. Sessions can share a
/// group; ``enter()`` and ``leave()`` add other work to it.
public final class CompletionGroup: RequestGroup {
    private struct State {
        var count = 0
        var waiters = Waiters<Void>()
        var observers: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    /// Creates an empty group.
    public init() {}

    /// The number of running requests and other work.
    public var count: Int { state.withLock { $0.count } }

    /// Adds one to the count.
    public func enter() {
        state.withLock { $0.count += 1 }
    }

    /// Subtracts one from the count. Does nothing when the count is zero.
    public func leave() {
        let (waiters, observers) = state.withLock { state in
            state.count = max(0, state.count - 1)
            guard state.count == 0 else { return ([Waiters<Void>.Waiter](), [@Sendable () -> Void]()) }
            defer { state.observers = [] }
            return (state.waiters.takeAll(), state.observers)
        }
        for waiter in waiters { waiter.resume() }
        for observer in observers { observer() }
    }

    /// Waits until the count is zero, or the caller's task is cancelled.
    public func wait() async {
        await state.wait(in: { $1(&$0.waiters) }, ifCancelled: {}) { $0.count == 0 ? () : nil }
    }

    /// Calls a function once, on an executor, when the count is zero.
    public func notify(on executor: CallbackExecutor, _ observer: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.count > 0 { state.observers.append { executor.execute(observer) } }
            return state.count == 0
        }
        if isOver { executor.execute(observer) }
    }
}

extension HTTPSession.Configuration {
    /// Counts the session's running requests: the configuration's group, if it is a ``CompletionGroup``. The default is
    /// none.
    public var completionGroup: CompletionGroup? {
        get { requestGroup as? CompletionGroup }
        set { requestGroup = newValue }
    }
}
