extension Session {
    /// The events of all the session's requests from now on. The sequence never ends.
    ///
    /// Events cost nothing without a subscriber. A slow reader misses the oldest; see ``EventSequence/droppedCount``.
    public var events: EventSequence<TaskEvent> {
        EventSequence(limit: EventSequence<TaskEvent>.limit) { buffer in hub.subscribe { buffer.append($0) } }
    }

    /// Calls a function with each event of the session's requests from now on, in order, on the callback executor.
    @discardableResult
    public func onEvent(_ observer: @escaping @Sendable (TaskEvent) -> Void) -> SessionObservation {
        hub.subscribe { [executor] event in executor.execute { observer(event) } }
    }
}
