extension Session {
    /// What happens to the session's requests from now on, on every surface; ends never.
    ///
    /// While nobody asks for events, they cost nothing.
    public var events: EventSequence<TaskEvent> {
        EventSequence { buffer in hub.subscribe { buffer.append($0) } }
    }

    /// Calls a function with what happens to the session's requests from now on, in order, on the callback executor.
    @discardableResult
    public func onEvent(_ observer: @escaping @Sendable (TaskEvent) -> Void) -> SessionObservation {
        hub.subscribe { [executor] event in executor.execute { observer(event) } }
    }
}
