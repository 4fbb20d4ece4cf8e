package import FoundationEssentials
package import HTTPTypes
package import LinnetSerialization
package import LinnetTransport

/// The events of the requests of all sessions in the process.
///
/// ```swift
/// for await notification in TaskNotifications.all {
///     if case .didComplete(let completion) = notification.kind { count(completion.metrics) }
/// }
/// ```
/// Intended for observers of all sessions, such as an activity indicator; ``HTTPSession/events`` has the events of one
/// session. Without a subscriber, notifications have no cost.
package enum TaskNotifications {
    /// The notifications after the creation of the sequence. The sequence never ends.
    package static var all: EventSequence<TaskNotification> {
        EventSequence(limit: EventSequence<TaskNotification>.limit) { buffer in
            TaskEventHub.notifications.subscribe { buffer.append($0) }
        }
    }

    /// Calls a function with each further notification, in order for each request, on an executor.
    @discardableResult
    package static func observe(
        on executor: CallbackExecutor, _ observer: @escaping @Sendable (TaskNotification) -> Void
    ) -> SessionObservation {
        TaskEventHub.notifications.subscribe { notification in executor.execute { observer(notification) } }
    }
}

/// An event of a request of any session in the process.
///
/// For each ``taskID``, notifications are delivered in the order in which they happened, each change of state once, and
/// `didComplete` last and exactly once.
package struct TaskNotification: Sendable {
    /// The kind of event.
    package enum Kind: Sendable {
        /// The request was started, or resumed after a suspension.
        case didResume
        /// The request was suspended.
        case didSuspend
        /// The request ended.
        case didComplete(TaskCompletion)
    }

    /// The request's ID, unique in the process.
    package let taskID: UInt64
    /// The kind of request.
    package let taskKind: TaskKind
    /// The kind of event.
    package let kind: Kind
    /// The original request; nil if it could not be created.
    package let request: SessionRequest?
    /// The description of the handle, if there is one.
    package let taskDescription: String?
}

/// The outcome of a request.
package struct TaskCompletion: Sendable {
    /// The serializer of the response; nil for downloads and streams, and for a request that never ran.
    package var serializer: (any ResponseSerializer)?
    /// The body as received; nil for downloads and streams, and if there was none.
    package var body: Data?
    /// The URL of a downloaded file.
    package var file: URL?
    /// The value that the serializer decoded; for a download, the file's URL.
    package var value: (any Sendable)?
    /// The response's status and header fields; nil if there was no response, and for streams without a handle.
    package var head: HTTPResponse?
    /// The error; nil on success.
    package var error: SessionError?
    /// The metrics of each attempt, in order.
    package var metrics: [TransportMetrics]
}

extension TaskCompletion {
    init<Value>(_ response: SessionResponse<Value>, _ kind: TaskKind, _ serializer: (any ResponseSerializer)?) {
        let hasBody = kind == .data || kind == .upload
        self.init(
            serializer: serializer, body: hasBody ? response.data : nil,
            file: kind == .download ? response.value as? URL : nil, value: kind == .stream ? nil : response.value,
            head: response.head, metrics: response.metrics)
    }

    init(_ error: SessionError, _ serializer: (any ResponseSerializer)?) {
        self.init(
            serializer: serializer, body: error.body, head: error.head, error: error, metrics: error.metrics)
    }

    init(_ error: SessionError?, metrics: [TransportMetrics]) {
        self.init(body: error?.body, head: error?.head, error: error, metrics: metrics)
    }
}
