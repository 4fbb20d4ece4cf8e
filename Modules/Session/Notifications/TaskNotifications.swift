/// What happens to the requests of all sessions of the process, on every surface.
///
/// ```swift
/// for await notification in TaskNotifications.all {
///     if case .didComplete(let completion) = notification.kind { count(completion.metrics) }
/// }
/// ```
/// For those who watch everything, such as an activity indicator. ``Session/events`` are those of one session. While nobody
/// asks, they cost nothing.
public enum TaskNotifications {
    static let hub = Broadcaster<TaskNotification>()

    /// The notifications from now on; ends never.
    public static var all: EventSequence<TaskNotification> {
        EventSequence(limit: EventSequence<TaskNotification>.limit) { buffer in hub.subscribe { buffer.append($0) } }
    }

    /// Calls a function with the notifications from now on, in order for each request, on an executor.
    @discardableResult
    public static func observe(
        on executor: CallbackExecutor, _ observer: @escaping @Sendable (TaskNotification) -> Void
    ) -> SessionObservation {
        hub.subscribe { notification in executor.execute { observer(notification) } }
    }
}
