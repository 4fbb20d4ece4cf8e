internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetJSON
internal import LinnetMessages
internal import LinnetSerialization
public import LinnetSession

extension OAuthServerMetadata {
    /// Gets the metadata of an issuer from its well-known address (RFC 8414, section 3), or, if there is nothing, from
    /// the one of OpenID Connect.
    ///
    /// Redirects are not followed, and metadata of another issuer are refused.
    ///
    /// - Parameters:
    ///   - issuer: The identifier of the issuer, in exactly its own spelling.
    ///   - session: The session for the requests.
    ///   - timeout: The longest time for each request. The default is 30 seconds. Exceeding it is
    ///     ``OAuthError/Code/timeout``.
    /// - Throws: An ``OAuthError``: ``OAuthError/Code/insecureEndpoint`` unless the issuer is https or on this machine,
    ///   ``OAuthError/Code/issuerMismatch`` if the metadata name another issuer, ``OAuthError/Code/invalidResponse`` if
    ///   they are not metadata, and the codes of requests.
    public static func discover(
        _ issuer: String, with session: HTTPSession, timeout: Duration = .seconds(30)
    ) async throws(OAuthError) -> OAuthServerMetadata {
        let addresses = try wellKnownAddresses(of: issuer)
        var answer = try await get(addresses.oauth, session, timeout)
        if 400..<500 ~= answer.status { answer = try await get(addresses.openID, session, timeout) }
        return try OAuthServerMetadata(answer.object(), of: issuer)
    }

    private static func get(
        _ url: URL, _ session: HTTPSession, _ timeout: Duration
    ) async throws(OAuthError) -> EndpointAnswer {
        let request = SessionRequest(url: url, headerFields: [.accept: "application/json"])
        return try await OAuthClient.answer(to: session.call(request), within: timeout, documentName)
    }

    /// The name of the document for messages.
    private static let documentName = "address of the issuer's metadata"

    /// The addresses of an issuer's metadata. A path of the issuer follows the well-known one of RFC 8414, and precedes
    /// the one of OpenID Connect.
    static func wellKnownAddresses(of issuer: String) throws(OAuthError) -> (oauth: URL, openID: URL) {
        guard let origin = Origin(issuer), let url = URL(string: issuer), url.query == nil, url.fragment == nil else {
            throw OAuthError(
                .invalidConfiguration,
                "\"\(issuer.oneLine)\" is not an issuer, which is an https URL without query and fragment.")
        }
        guard origin.isSecure || origin.isLoopback else {
            throw OAuthError(.insecureEndpoint, "The issuer \(origin) is not https.")
        }
        var path = url.path(percentEncoded: true)
        while path.hasSuffix("/") { path.removeLast() }
        guard let oauth = URL(string: "\(origin)/.well-known/oauth-authorization-server\(path)"),
            let openID = URL(string: "\(origin)\(path)/.well-known/openid-configuration")
        else {
            throw OAuthError(.invalidConfiguration, "\"\(issuer.oneLine)\" is not an issuer.")
        }
        return (oauth, openID)
    }

    /// Reads the metadata of an issuer.
    init(_ object: JSONObject, of issuer: String) throws(OAuthError) {
        func url(_ key: String) throws(OAuthError) -> URL? {
            guard let value = object[key], !value.isNull else { return nil }
            guard let text = value.string, Origin(text) != nil, let url = URL(string: text) else {
                throw .invalidResponse(Self.documentName, "\(key) is not a URL")
            }
            return url
        }
        guard let name = object["issuer"]?.string else {
            throw .invalidResponse(Self.documentName, "it names no issuer")
        }
        guard name == issuer else {
            throw OAuthError(
                .issuerMismatch, "The metadata belong to \"\(name.oneLine)\", and not to \"\(issuer.oneLine)\".")
        }
        guard let tokenEndpoint = try url("token_endpoint") else {
            throw .invalidResponse(Self.documentName, "it has no token endpoint")
        }
        self.init(issuer: issuer, tokenEndpoint: tokenEndpoint)
        authorizationEndpoint = try url("authorization_endpoint")
        deviceAuthorizationEndpoint = try url("device_authorization_endpoint")
        revocationEndpoint = try url("revocation_endpoint")
        codeChallengeMethods = object["code_challenge_methods_supported"]?.array?.compactMap(\.string)
        namesIssuerInAnswers = object["authorization_response_iss_parameter_supported"]?.bool ?? false
    }
}
