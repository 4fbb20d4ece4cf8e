public import FoundationEssentials
public import HTTPTypes
internal import LinnetMessages
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
        var redirects: [HTTPRedirect] = []
        var isOfBody = false
    }

    // The details are boxed to keep the error small: each function that throws it reserves space for it in its stack
    // frame.
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

    /// The response's body, if it was received completely. For a refused download, its first bytes; in an unknown
    /// content coding, its first bytes without decoding.
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
    public var redirects: [HTTPRedirect] {
        get { details.value.redirects }
        set { details.value.redirects = newValue }
    }

    /// Whether the transport failed while the body of a streamed response was read.
    var isOfBody: Bool {
        get { details.value.isOfBody }
        set { details.value.isOfBody = newValue }
    }
}

extension SessionError: CustomStringConvertible, LocalizedError {
    /// The message with the code, the URL redacted by `Redaction.standard`, and the status, as far as they are known.
    public var description: String {
        let facts = ["\(code)", url.map(Redaction.standard.text), head.map { "status \($0.status.code)" }]
        let sentence = message.hasSuffix(".") ? String(message.dropLast()) : message
        return "\(sentence) (\(facts.compactMap { $0 }.joined(separator: ", ")))."
    }

    /// The message, for display to the user.
    public var errorDescription: String? { message }
}

extension SessionError {
    /// Decodes the response's JSON body, for example a server's description of the error.
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
                .decodingFailed, "The error's body is not a \(type): \(Self.cause(error))", underlying: error, url: url)
        }
    }

    /// The problem details of the response (RFC 9457); nil unless its content type is `application/problem+json` and
    /// its body is a valid problem details object.
    public var problem: ProblemDetails? {
        guard let type = head?.headerFields[.contentType].flatMap({ MIMEType(contentType: $0) }),
            type.type == "application", type.subtype == "problem+json"
        else { return nil }
        return try? decoded(as: ProblemDetails.self)
    }
}

extension SessionError {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, Codable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// Decodes the name of a code. An unknown name is a code of its own.
        public init(from decoder: any Decoder) throws {
            description = try decoder.singleValueContainer().decode(String.self)
        }

        /// Encodes the name.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }

        /// The request, its task, or the task that awaited it was cancelled.
        public static let cancelled = Code("cancelled")
        /// A timeout was exceeded; see ``SessionError/timeout``.
        public static let timeout = Code("timeout")
        /// No address of the host accepted a connection, or the proxy failed or refused to connect. The underlying
        /// `TransportError` has the code `proxyConnectionFailed` or `proxyRefused` for a proxy, and
        /// `localAddressUnavailable` if a socket could not be bound to the local address or the interface of the
        /// configuration.
        public static let connectionFailed = Code("connectionFailed")
        /// The host's name has no address.
        public static let nameResolutionFailed = Code("nameResolutionFailed")
        /// The connection ended before the response was complete.
        public static let connectionLost = Code("connectionLost")
        /// The proxy requires a user name and a password, or did not accept the given ones.
        public static let proxyAuthenticationRequired = Code("proxyAuthenticationRequired")
        /// The security policy refused the server's certificate (see ``SessionError/trustRefusal``) or a request in
        /// clear text to the host; for the latter, the underlying `TransportError` has the code `cleartextRefused`.
        public static let trustRefused = Code("trustRefused")
        /// The server requires a client certificate, and none was sent; see
        /// ``HTTPSession/Configuration/clientIdentities``.
        public static let clientCertificateRequired = Code("clientCertificateRequired")
        /// The server refused the client's certificate, for example as expired, revoked, or issued by an unknown
        /// authority.
        public static let clientCertificateRefused = Code("clientCertificateRefused")
        /// TLS failed for a reason other than trust.
        public static let tlsFailed = Code("tlsFailed")
        /// The URL is malformed, or is not an http or https URL with a host.
        public static let invalidURL = Code("invalidURL")
        /// The request is invalid, for example because of a forbidden header field.
        public static let invalidRequest = Code("invalidRequest")
        /// The request serializer cannot encode the parameters.
        public static let invalidParameters = Code("invalidParameters")
        /// The response's status is not acceptable.
        public static let unacceptableStatus = Code("unacceptableStatus")
        /// The response's content type is not acceptable.
        public static let unacceptableContentType = Code("unacceptableContentType")
        /// A closure of a validation refused the response (`ResponseValidation.validating(_:)`,
        /// `ResponseSerializer.validating(_:)`). The underlying error is a `SerializationError`, which the closure's
        /// error underlies.
        public static let unacceptableResponse = Code("unacceptableResponse")
        /// The response's body could not be decoded.
        public static let decodingFailed = Code("decodingFailed")
        /// The response's body has an unknown content coding, or is invalid in its coding: damaged, truncated, or
        /// followed by other bytes. The underlying error is a `CompressionError`.
        public static let contentDecodingFailed = Code("contentDecodingFailed")
        /// A value could not be encoded as the request's body.
        public static let encodingFailed = Code("encodingFailed")
        /// The response's body, or a line or an event in it, is larger than its limit. If the decoded body exceeds
        /// ``HTTPSession/Configuration/decodingLimits``, the underlying error is a `CompressionError`.
        public static let bodyTooLarge = Code("bodyTooLarge")
        /// A streamed body of a response, which has one reader, was read a second time; see ``HTTPResponseBody``.
        public static let bodyHasReader = Code("bodyHasReader")
        /// The request's body failed to produce its bytes, or cannot be replayed.
        public static let requestBodyFailed = Code("requestBodyFailed")
        /// A file could not be read or written, or changed while it was sent; see ``SessionError/fileFailure``.
        public static let fileFailed = Code("fileFailed")
        /// The resume data is damaged, has an unknown version, or does not match its part. The part may be missing,
        /// shorter, different or in use; see ``SessionError/fileFailure`` for failures of the part.
        public static let invalidResumeData = Code("invalidResumeData")
        /// The response is not valid HTTP, or exceeds a limit on its head.
        public static let invalidResponse = Code("invalidResponse")
        /// The configuration cannot be enforced.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// An interceptor, or a body that it created, threw an error of another type, which is the underlying error.
        public static let interceptorFailed = Code("interceptorFailed")
        /// A hook threw an error of another type, which is the underlying error.
        public static let hookFailed = Code("hookFailed")
        /// A hook turned the response into a download or a stream (``TaskHooks/ResponseDisposition``), so
        /// there is no value.
        public static let takenByHook = Code("takenByHook")
        /// The request permits only a cached response (`RequestOptions.CachePolicy.cacheOnly`), and there is none.
        public static let notCached = Code("notCached")
        /// The request does not permit the current network (`RequestOptions.allowsExpensiveNetworks`).
        public static let networkNotAllowed = Code("networkNotAllowed")
        /// The request was redirected more often than ``RedirectPolicy/limit`` allows.
        public static let tooManyRedirects = Code("tooManyRedirects")
        /// The response redirects to a forbidden target: from https to http, to another scheme, to an invalid URL, or
        /// to an origin that ``RedirectPolicy/staysAtOrigin`` forbids.
        public static let redirectRefused = Code("redirectRefused")
        /// A hook cancelled the authentication that the server requires.
        public static let authenticationCancelled = Code("authenticationCancelled")
        /// The credential for the request could not be renewed (``RenewableCredential``). The underlying error is that
        /// of ``Authenticator/renew(_:)``; there is none if it was renewed too often.
        public static let credentialRenewalFailed = Code("credentialRenewalFailed")
        /// The ``RequestSigner`` threw an error of another type, which is the underlying error. Nothing was sent.
        public static let signingFailed = Code("signingFailed")
        /// The circuit breaker refused the request, because the last requests to its origin failed; see
        /// ``HTTPSession/Configuration/circuitBreaker``.
        public static let circuitOpen = Code("circuitOpen")
        /// The session was shut down.
        public static let shutDown = Code("shutDown")
        /// The transport failed with an error that has no code here. It is the underlying error.
        public static let transportFailed = Code("transportFailed")
    }

    /// A timeout of a request.
    public struct Timeout: Hashable, Sendable, CustomStringConvertible {
        /// The timeout's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// No connection became available in time.
        public static let poolWait = Timeout("poolWait")
        /// The connection could not be opened in time.
        public static let connect = Timeout("connect")
        /// The TLS handshake took too long.
        public static let tlsHandshake = Timeout("tlsHandshake")
        /// The server sent nothing for too long.
        public static let idleRead = Timeout("idleRead")
        /// The server accepted no bytes for too long.
        public static let idleWrite = Timeout("idleWrite")
        /// The whole request took too long.
        public static let request = Timeout("request")
    }
}
