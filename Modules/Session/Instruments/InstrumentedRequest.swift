public import FoundationEssentials
public import HTTPTypes
public import LinnetMessages
internal import LinnetSerialization
public import LinnetTransport

/// A request as an ``Instrument`` sees it.
public struct InstrumentedRequest: Sendable {
    /// The ID of the request, as in ``TaskEvent/taskID``.
    public let taskID: UInt64
    /// How often the request was sent so far, this time included: 1 for the first time, and 0 for a request that was
    /// not sent yet.
    public let sends: Int
    /// The method.
    public let method: HTTPRequest.Method
    /// The URL, which may have a user name, a password, and secrets in its query.
    public let url: URL
    /// The origin of the URL.
    public let origin: Origin
    /// The header fields. ``Instrument/willSend(_:)`` may add some.
    public var headerFields: HTTPFields
    /// The length of the body in bytes; 0 without a body, nil if it is unknown.
    public let bodyLength: Int64?
    /// The template of the path; see `RequestOptions.template`.
    public let template: String?
    /// The custom tag; see `RequestOptions.tag`.
    public let tag: String?
    let redaction: Redaction

    /// The URL for people: without user information, and with the secrets of its query replaced, by the session's
    /// `Redaction`.
    public var redactedURL: String { redaction.text(of: url) }

    /// The method as OpenTelemetry's conventions name it: `_OTHER` for one that is not in RFC 9110 or RFC 5789.
    public var conventionalMethod: String {
        switch method {
        case .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect: method.rawValue
        default: "_OTHER"
        }
    }
}

/// The end of one sending of a request.
public struct SendOutcome: Sendable {
    /// The head of the response; nil if none arrived.
    public let head: HTTPResponse?
    /// The failure; nil if a response arrived. A body that ended early has a failure only in its attempt's metrics.
    public let error: SessionError?
    /// The metrics of the attempts to send it, in order; the last one led to the outcome. Empty if the request was not
    /// sent.
    public let attempts: [TransportMetrics]

    /// The status of the response; nil if none arrived.
    package let status: Int?
    /// The kind of the failure as OpenTelemetry's conventions have it in `error.type`, from a bounded set: a status
    /// from 400 as a number, the name of a ``SessionError/Code``, or the name of a `TransportMetrics.Failure`; nil for
    /// a success.
    public let errorType: String?

    init(head: HTTPResponse?, error: SessionError?, attempts: [TransportMetrics]) {
        self.head = head
        self.error = error
        self.attempts = attempts
        status = head?.status.code
        errorType =
            if let error {
                "\(error.code)"
            } else if let status, status >= 400 {
                "\(status)"
            } else {
                attempts.last?.failure.map { "\($0)" }
            }
    }

    /// The version of the protocol, `1.1` or `2`; nil if no connection was opened.
    public var protocolVersion: String? { Self.protocolVersion(attempts.last?.httpVersion) }

    package static func protocolVersion(_ httpVersion: String?) -> String? {
        switch httpVersion {
        case "http/1.1": "1.1"
        case "h2": "2"
        default: nil
        }
    }
}
