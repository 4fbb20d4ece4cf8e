internal import FoundationEssentials
internal import LinnetSerialization

// The session's current handles, and the events of its requests.
extension HTTPSession {
    /// The handles that have not ended, in the order of their creation. Never waits.
    public var tasks: [any SessionTask] { registry.tasks }

    /// Cancels every handle that has not ended. To cancel a request without a handle, cancel the task that awaits it.
    public func cancelAll() {
        for task in registry.tasks { task.cancel() }
    }

    /// Cancels all handles whose requests have this `RequestOptions.tag`.
    public func cancelTasks(tagged tag: String) {
        cancelTasks { $0.originalRequest?.options.tag == tag }
    }

    /// Cancels the handles whose request paths begin with a prefix, such as `/api/v1/posts/`, compared as written in
    /// the URLs.
    public func cancelTasks(pathPrefix prefix: String) {
        cancelTasks { $0.originalRequest?.url.path(percentEncoded: true).hasPrefix(prefix) == true }
    }

    /// Cancels the handles for which a function returns true.
    public func cancelTasks(where isMeant: (any SessionTask) -> Bool) {
        for task in registry.tasks where isMeant(task) { task.cancel() }
    }

    /// The events of all further requests and changes of the session. The sequence never ends.
    ///
    /// Events cost nothing without a subscriber. A slow reader misses the oldest; see ``EventSequence/droppedCount``.
    public var events: EventSequence<TaskEvent> {
        EventSequence(limit: EventSequence<TaskEvent>.limit) { buffer in hub.subscribe { buffer.append($0) } }
    }

    /// Calls a function with each further event of the session's requests, in order, on the callback executor.
    @discardableResult
    public func onEvent(_ observer: @escaping @Sendable (TaskEvent) -> Void) -> SessionObservation {
        hub.subscribe { [executor = initialConfiguration.callbackExecutor] event in executor.execute { observer(event) }
        }
    }
}
