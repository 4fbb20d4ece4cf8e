public import FoundationEssentials
public import HTTPTypes
public import LinnetSecurity
public import LinnetSerialization
public import LinnetTransport

/// The error of a request, or of making a session.
///
/// Cancellation, each timeout, a refused certificate, a failed connection and bad input have codes of their own.
public struct SessionError: Error, Sendable {
    private struct Details: Sendable {
        var code: Code
        var message: String
        var timeout: Timeout?
        var underlying: (any Error)?
        var url: URL?
        var head: HTTPResponse?
        var body: Data?
        var trustRefusal: TrustRefusal?
        var fileFailure: FileFailure?
        var resumeData: ResumeData?
        var metrics: [TransportMetrics] = []
        var redirects: [Redirect] = []
    }

    // An error is one reference: there is room for one in the frame of every call on a request's way.
    private var details: Boxed<Details>

    /// Makes an error.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil, url: URL? = nil) {
        details = Boxed(Details(code: code, message: message, underlying: underlying, url: url?.withoutUserInfo))
    }

    /// What kind of failure it was.
    public var code: Code {
        get { details.value.code }
        set { details.value.code = newValue }
    }

    /// A one-line message for people.
    public var message: String {
        get { details.value.message }
        set { details.value.message = newValue }
    }

    /// The timeout that was exceeded, for ``Code/timeout``.
    public var timeout: Timeout? {
        get { details.value.timeout }
        set { details.value.timeout = newValue }
    }

    /// The underlying error, if there is one.
    public var underlying: (any Error)? {
        get { details.value.underlying }
        set { details.value.underlying = newValue }
    }

    /// The request's URL, without user name and password.
    public var url: URL? {
        get { details.value.url }
        set { details.value.url = newValue }
    }

    /// The response's status and header fields, if it was received.
    public var head: HTTPResponse? {
        get { details.value.head }
        set { details.value.head = newValue }
    }

    /// The response's body, if it was received whole; for a refused download, its first bytes.
    public var body: Data? {
        get { details.value.body }
        set { details.value.body = newValue }
    }

    /// Why the policy refused the chain, with the pins that were seen and wanted, for ``Code/trustRefused``.
    public var trustRefusal: TrustRefusal? {
        get { details.value.trustRefusal }
        set { details.value.trustRefusal = newValue }
    }

    /// The file and the system's error, for ``Code/fileFailed``.
    public var fileFailure: FileFailure? {
        get { details.value.fileFailure }
        set { details.value.fileFailure = newValue }
    }

    /// The data to resume a download that kept its part; see ``DownloadOptions/keepsPart``.
    public var resumeData: ResumeData? {
        get { details.value.resumeData }
        set { details.value.resumeData = newValue }
    }

    /// The metrics of each attempt, as far as they are known.
    public var metrics: [TransportMetrics] {
        get { details.value.metrics }
        set { details.value.metrics = newValue }
    }

    /// The redirects that were followed before the error, in order.
    public var redirects: [Redirect] {
        get { details.value.redirects }
        set { details.value.redirects = newValue }
    }
}

extension SessionError: CustomStringConvertible, LocalizedError {
    /// The message, then the code, the URL without user name and password, and the status, where there are any.
    public var description: String {
        let facts = ["\(code)", url.map(Redaction.standard.text), head.map { "status \($0.status.code)" }]
        let sentence = message.hasSuffix(".") ? String(message.dropLast()) : message
        return "\(sentence) (\(facts.compactMap { $0 }.joined(separator: ", ")))."
    }

    /// The message, for display to the user.
    public var errorDescription: String? { message }
}

extension SessionError {
    /// Reads the response's JSON body into a type, such as a server's own description of what went wrong.
    ///
    /// - Throws: A `SessionError` with ``Code/decodingFailed`` when there is no body, or when it is not such a value.
    public func decoded<T: Decodable>(
        as type: T.Type, decoder: JSONBodyDecoder = JSONBodyDecoder()
    ) throws(SessionError) -> T {
        guard let body else {
            throw SessionError(
                .decodingFailed, "The error has no body that could be decoded.", underlying: self, url: url)
        }
        do {
            return try decoder.decode(type, from: body)
        } catch {
            throw SessionError(
                .decodingFailed, "The error's body is not a \(type): \(error)", underlying: error, url: url)
        }
    }

    /// The problem details of the response (RFC 9457); nil unless it has the type `application/problem+json` and is such an
    /// object.
    public var problem: ProblemDetails? {
        guard let type = head?.headerFields[.contentType].flatMap({ MediaType(contentType: $0) }),
            type.type == "application", type.subtype == "problem+json"
        else { return nil }
        return try? decoded(as: ProblemDetails.self)
    }
}

extension URL {
    /// The URL without user name and password.
    var withoutUserInfo: URL {
        guard absoluteString.utf8.contains(UInt8(ascii: "@")), user() != nil || password() != nil else { return self }
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        components.user = nil
        components.password = nil
        return components.url ?? self
    }
}
