extension SessionError {
    /// The kind of a failure.
    public struct Code: Hashable, Sendable, Codable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// Decodes the name; a name that is not one of these codes is one of its own.
        public init(from decoder: any Decoder) throws {
            description = try decoder.singleValueContainer().decode(String.self)
        }

        /// Encodes the name.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(description)
        }

        /// The request, its task or the task that awaited it was cancelled.
        public static let cancelled = Code("cancelled")
        /// A step took too long; ``SessionError/timeout`` says which.
        public static let timeout = Code("timeout")
        /// No address of the host could be connected to.
        public static let connectionFailed = Code("connectionFailed")
        /// The host's name has no address.
        public static let nameResolutionFailed = Code("nameResolutionFailed")
        /// The connection ended before the response was complete.
        public static let connectionLost = Code("connectionLost")
        /// The security policy refused the server's certificate; see ``SessionError/trustRefusal``. Or it lets no clear text
        /// go to the host: then the underlying `TransportError` has the code `cleartextRefused`.
        public static let trustRefused = Code("trustRefused")
        /// The server requires a client certificate, and got none; see ``HTTPSession/Configuration/clientIdentities``.
        public static let clientCertificateRequired = Code("clientCertificateRequired")
        /// The server refused the client's certificate: expired, revoked, or issued by an unknown authority.
        public static let clientCertificateRefused = Code("clientCertificateRefused")
        /// TLS failed for another reason than trust.
        public static let tlsFailed = Code("tlsFailed")
        /// The URL is malformed, or is not one of http or https with a host.
        public static let invalidURL = Code("invalidURL")
        /// The request cannot be sent as it is, such as for a forbidden header field.
        public static let invalidRequest = Code("invalidRequest")
        /// The parameters do not fit the request serializer.
        public static let invalidParameters = Code("invalidParameters")
        /// The response's status is not acceptable.
        public static let unacceptableStatus = Code("unacceptableStatus")
        /// The response's content type is not acceptable.
        public static let unacceptableContentType = Code("unacceptableContentType")
        /// The response's body is not what the serializer reads.
        public static let decodingFailed = Code("decodingFailed")
        /// A value could not be made into the request's body.
        public static let encodingFailed = Code("encodingFailed")
        /// The response's body is larger than the session's limit.
        public static let bodyTooLarge = Code("bodyTooLarge")
        /// The request's body failed to produce its bytes, or cannot produce them again.
        public static let requestBodyFailed = Code("requestBodyFailed")
        /// A file could not be read or written, or changed while it was sent; see ``SessionError/fileFailure``.
        public static let fileFailed = Code("fileFailed")
        /// Resume data is damaged, has an unknown version, or does not match its part, which is missing, shorter, different or
        /// in use; see ``SessionError/fileFailure`` for failures of the part.
        public static let invalidResumeData = Code("invalidResumeData")
        /// The server's bytes are not HTTP, or exceed a limit on a response's head.
        public static let invalidResponse = Code("invalidResponse")
        /// The configuration cannot be enforced.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// An interceptor, or a body that it made, threw an error of its own; it is the underlying one.
        public static let interceptorFailed = Code("interceptorFailed")
        /// A hook threw an error of its own; it is the underlying one.
        public static let hookFailed = Code("hookFailed")
        /// A hook made the response a download or a stream (``ResponseDisposition``): there is no value.
        public static let takenByHook = Code("takenByHook")
        /// The request may only be answered from a cache (`RequestOptions.CachePolicy.cacheOnly`), which has no response.
        public static let notCached = Code("notCached")
        /// The request may not use the network as it is now (`RequestOptions.allowsExpensiveNetworks`).
        public static let networkNotAllowed = Code("networkNotAllowed")
        /// The request was redirected more often than ``RedirectPolicy/limit`` allows.
        public static let tooManyRedirects = Code("tooManyRedirects")
        /// The response redirects to where the request must not go: from https to http, to another scheme, to what is no
        /// URL, or to an origin that ``RedirectPolicy/staysAtOrigin`` forbids.
        public static let redirectRefused = Code("redirectRefused")
        /// A hook cancelled the authentication that the server asked for.
        public static let authenticationCancelled = Code("authenticationCancelled")
        /// The session was shut down.
        public static let shutDown = Code("shutDown")
        /// The transport failed in a way that has no code here; its error is the underlying one.
        public static let transportFailed = Code("transportFailed")
    }

    /// A timeout of a request.
    public struct Timeout: Hashable, Sendable, CustomStringConvertible {
        /// The timeout's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// No connection became free in time.
        public static let poolWait = Timeout("poolWait")
        /// The connection could not be opened in time.
        public static let connect = Timeout("connect")
        /// The TLS handshake took too long.
        public static let tlsHandshake = Timeout("tlsHandshake")
        /// The server sent nothing for too long.
        public static let idleRead = Timeout("idleRead")
        /// The server took nothing for too long.
        public static let idleWrite = Timeout("idleWrite")
        /// The whole request took too long.
        public static let request = Timeout("request")
    }
}
