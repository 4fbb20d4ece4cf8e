/// The events of the requests of all sessions in the process.
///
/// ```swift
/// for await notification in TaskNotifications.all {
///     if case .didComplete(let completion) = notification.kind { count(completion.metrics) }
/// }
/// ```
/// Intended for observers of all sessions, such as an activity indicator; ``HTTPSession/events`` has the events of one
/// session. Without a subscriber, notifications have no cost.
public enum TaskNotifications {
    static let hub = Broadcaster<TaskNotification>()

    /// The notifications from the creation of the sequence on. The sequence never ends.
    public static var all: EventSequence<TaskNotification> {
        EventSequence(limit: EventSequence<TaskNotification>.limit) { buffer in hub.subscribe { buffer.append($0) } }
    }

    /// Calls a function with each further notification, in order for each request, on an executor.
    @discardableResult
    public static func observe(
        on executor: CallbackExecutor, _ observer: @escaping @Sendable (TaskNotification) -> Void
    ) -> SessionObservation {
        hub.subscribe { notification in executor.execute { observer(notification) } }
    }
}
