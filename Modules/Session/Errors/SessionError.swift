public import FoundationEssentials
public import HTTPTypes
public import LinnetSecurity
public import LinnetSerialization
public import LinnetTransport

/// The error of a request, or of creating a session.
///
/// The `code` distinguishes cancellation, timeouts, refused certificates, failed connections and invalid input.
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

    // The details are boxed to keep the error small: each function that throws it reserves space for it in its frame.
    private var details: Boxed<Details>

    /// Creates an error.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil, url: URL? = nil) {
        details = Boxed(Details(code: code, message: message, underlying: underlying, url: url?.withoutUserInfo))
    }

    /// The kind of failure.
    public var code: Code {
        get { details.value.code }
        set { details.value.code = newValue }
    }

    /// A message of one line for people.
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

    /// The reason that the policy refused the chain, with the seen and the expected pins, for ``Code/trustRefused``.
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

    /// The metrics of each attempt, in order, as far as they are known.
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
    /// The message with the code, the URL, redacted with ``Redaction/standard``, and the status, as far as they are known.
    public var description: String {
        let facts = ["\(code)", url.map(Redaction.standard.text), head.map { "status \($0.status.code)" }]
        let sentence = message.hasSuffix(".") ? String(message.dropLast()) : message
        return "\(sentence) (\(facts.compactMap { $0 }.joined(separator: ", ")))."
    }

    /// The message, for display to the user.
    public var errorDescription: String? { message }
}

extension SessionError {
    /// Decodes the response's JSON body, such as a server's own description of the error.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - decoder: The decoder of the body.
    /// - Returns: The decoded value.
    /// - Throws: A `SessionError` with ``Code/decodingFailed`` when there is no body, or when it cannot be decoded.
    public func decoded<T: Decodable>(
        as type: T.Type, decoder: JSONBodyDecoder = JSONBodyDecoder()
    ) throws(SessionError) -> T {
        guard let body else {
            throw SessionError(
                .decodingFailed, "The error has no body to decode.", underlying: self, url: url)
        }
        do {
            return try decoder.decode(type, from: body)
        } catch {
            throw SessionError(
                .decodingFailed, "The error's body is not a \(type): \(error)", underlying: error, url: url)
        }
    }

    /// The problem details of the response (RFC 9457); nil unless its content type is `application/problem+json` and its body is
    /// a valid problem details object.
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
