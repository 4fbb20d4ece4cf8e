public import FoundationEssentials
public import HTTPTypes
public import LinnetAuthentication
public import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

/// Signs the requests to some origins, after all their fields are there.
///
/// ```swift
/// let signer = RequestSigner(for: [origin]) { request in
///     let digest = try await request.contentDigest(.sha256).hexadecimal
///     request.headerFields[signatureName] = sign("\(request.method) \(request.url) \(digest)")
/// }
/// let api = try HTTPSession { $0.requestSigner = signer }
/// ```
/// It is called each time that a request is sent: for each retry, each redirect, and each answer to a 401, with
/// cookies, credentials, conditions of the cache and Content-Length. Below it, only the transport adds fields: Host,
/// Connection, Upgrade, Transfer-Encoding and Proxy-Authorization. The transport may send a request again that no
/// server has processed, with the same signature.
///
/// Requests to other origins are not signed. The fields that the signer added to a request are in no later one: a
/// redirect is signed anew, or has no signature. The request and its retries, as adapters, retriers and hooks see them,
/// have none either.
///
/// The signer's error fails the request with ``SessionError/Code/signingFailed``, unless it is a ``SessionError``. A
/// request that is cancelled or reaches its timeout does not wait for the signer.
public struct RequestSigner: Sendable {
    /// The origins whose requests are signed.
    public let origins: Set<Origin>
    private let sign: @Sendable (inout Request) async throws -> Void

    /// Creates a signer.
    ///
    /// - Parameters:
    ///   - origins: The origins whose requests are signed.
    ///   - sign: Changes the header fields of a request. It is called for many requests at once.
    public init(
        for origins: some Sequence<Origin>, _ sign: @escaping @Sendable (inout Request) async throws -> Void
    ) {
        self.origins = Set(origins)
        self.sign = sign
    }

    /// Signs requests by RFC 9421. A Content-Digest that is covered is added first: a body in a file or a replayable
    /// stream is then read twice.
    ///
    /// - Parameters:
    ///   - signer: The key, and what the signature covers.
    ///   - origins: The origins whose requests are signed.
    public static func messageSignature(_ signer: MessageSigner, for origins: some Sequence<Origin>) -> RequestSigner {
        RequestSigner(for: origins) { request in
            if signer.needsContentDigest(request.headerFields) {
                let digest = try await request.contentDigest(signer.digestAlgorithm)
                request.headerFields[.contentDigest] = "\(digest)"
            }
            var message = SignableMessage(
                method: request.method, target: request.target, fields: request.headerFields)
            try signer.sign(&message)
            request.headerFields = message.fields
        }
    }

    /// Returns the header fields of a request with its signature.
    func fields(of request: Request) async throws(SessionError) -> HTTPFields {
        do {
            return try await untilCancelled { [sign] in
                var request = request
                try await sign(&request)
                return request.headerFields
            }
        } catch let error as SessionError {
            throw error
        } catch is CancellationError {
            throw .cancelled(request.url)
        } catch {
            throw SessionError(
                .signingFailed, "The request could not be signed: \(SessionError.cause(error))", underlying: error,
                url: request.url)
        }
    }
}

extension RequestSigner {
    /// A request as it is sent. The signer may change its header fields.
    public struct Request: Sendable {
        /// The method.
        public let method: HTTPRequest.Method
        /// The header fields.
        ///
        /// They include Content-Length if the length of the body is known, which cannot be changed, and Authorization
        /// if the URL has a user name. The fields of the connection are not among them: Host, Connection and what it
        /// names, Upgrade, TE, Transfer-Encoding, Proxy-Authorization, and Expect without a body.
        public var headerFields: HTTPFields
        let target: RequestTarget
        private let body: HTTPRequestBody?
        /// The names, in lower case, of the fields that the signer does not see.
        private let hiddenNames: Set<String>

        init(_ request: SessionRequest, _ target: RequestTarget) {
            (method, body, self.target) = (request.method, request.body, target)
            let hidden = request.connectionNames
            hiddenNames = hidden
            headerFields = target.head(of: request).headerFields
            headerFields.removeAll { hidden.contains($0) }
            if let length = request.sentLength { headerFields[.contentLength] = String(length) }
        }

        /// The origin of the URL.
        public var origin: Origin { target.origin }

        /// The path and the query as they are sent.
        public var path: String { target.path }

        /// The URL as it is sent, without user information and fragment.
        public var url: URL { URL(string: "\(target.origin)\(target.path)") ?? URL(filePath: target.path) }

        /// The body in memory; nil if there is none, or if it is in a file or a stream.
        public var content: Data? { body?.data }

        /// Returns the digest of the body, which is read for it, or of no bytes if there is none.
        ///
        /// - Throws: A `SessionError` with ``SessionError/Code/requestBodyFailed`` if the body can be read only once,
        ///   and nothing is sent; or with the code of the failure to read it.
        public func contentDigest(_ algorithm: ContentDigest.Algorithm) async throws(SessionError) -> ContentDigest {
            guard let body else { return ContentDigest(algorithm, DigestHasher(algorithm)?.finishBytes() ?? []) }
            let bytes = try await body.hash("The signature covers the body", url) { DigestHasher(algorithm) }
            return ContentDigest(algorithm, bytes ?? [])
        }
    }
}

extension RequestSigner.Request {
    /// Returns the request with the signed header fields. The transport writes the length.
    func applying(_ signed: HTTPFields, to request: SessionRequest) -> SessionRequest {
        var request = request
        var fields = signed
        fields.removeAll { hiddenNames.contains($0) }
        request.headerFields.removeAll { !hiddenNames.contains($0) }
        fields.append(contentsOf: request.headerFields)
        request.headerFields = fields
        return request
    }
}

extension HTTPFields {
    /// Removes the fields whose names, in lower case, fulfil a condition.
    fileprivate mutating func removeAll(where isRemoved: (String) -> Bool) {
        guard contains(where: { isRemoved($0.name.canonicalName) }) else { return }
        self = HTTPFields(filter { !isRemoved($0.name.canonicalName) })
    }
}

extension SessionRequest {
    private static let connectionNames: Set<String> = [
        "host", "connection", "keep-alive", "proxy-connection", "upgrade", "http2-settings", "te", "transfer-encoding",
        "content-length", "proxy-authorization",
    ]

    /// The fields of the connection, and those that the transport writes or omits.
    fileprivate var connectionNames: Set<String> {
        var names = Self.connectionNames
        if body == nil || body?.length == 0 { names.insert("expect") }
        for value in headerFields[values: .connection] {
            for option in value.split(separator: ",") {
                names.insert(String(option).trimmingOptionalWhitespace.lowercased())
            }
        }
        return names
    }

    /// The value of Content-Length, as the transport writes it (RFC 9110, section 8.6).
    fileprivate var sentLength: Int64? {
        guard let body else { return [.post, .put, .patch].contains(method) ? 0 : nil }
        return body.length
    }
}
