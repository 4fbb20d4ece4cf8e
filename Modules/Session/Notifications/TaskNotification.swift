public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization
public import LinnetTransport

/// Something that happened to a request of any session of the process.
///
/// For each ``taskID`` the notifications come in the order in which they happened, each change of state once, and
/// `didComplete` last and exactly once.
public struct TaskNotification: Sendable {
    /// What happened.
    public enum Kind: Sendable {
        /// The request was started, or went on after a suspension.
        case didResume
        /// The request was held back.
        case didSuspend
        /// The request ended.
        case didComplete(TaskCompletion)
    }

    /// The request's number. No two requests of a process have the same.
    public let taskID: UInt64
    /// What the request is made for.
    public let taskKind: TaskKind
    /// What happened.
    public let kind: Kind
    /// The request as it was given; nil when it could not be made.
    public let request: Request?
    /// The handle's description.
    public let taskDescription: String?
}

/// How a request ended, and what came of it.
public struct TaskCompletion: Sendable {
    /// What read the response; nil for downloads and streams, and for a request that never ran.
    public var serializer: (any ResponseSerializer)?
    /// The body as it came; nil for downloads and streams, and when there was none.
    public var body: Data?
    /// Where a download is.
    public var file: URL?
    /// What the serializer made of the body; of a download, where the file is.
    public var value: (any Sendable)?
    /// The response's status and header fields; nil when there was none, and for streams without a handle.
    public var head: HTTPResponse?
    /// Why it failed; nil when it went well.
    public var error: SessionError?
    /// What each attempt cost, in order.
    public var metrics: [TransportMetrics]
}

extension TaskCompletion {
    init<Value>(_ response: Response<Value>, _ kind: TaskKind, _ serializer: (any ResponseSerializer)?) {
        let hasBody = kind == .data || kind == .upload
        self.init(
            serializer: serializer, body: hasBody ? response.body : nil,
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
