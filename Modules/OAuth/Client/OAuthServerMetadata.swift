public import FoundationEssentials
internal import LinnetMessages

/// The endpoints and the abilities of an issuer, which is an authorization server (RFC 8414, section 2).
///
/// ```swift
/// let server = OAuthServerMetadata(issuer: "https://login.example.com", tokenEndpoint: endpoint)
/// ```
/// ``discover(_:with:timeout:)`` gets them from the issuer. Requests to endpoints that are not https fail with
/// ``OAuthError/Code/insecureEndpoint``, unless both the endpoint and the issuer are on this machine.
public struct OAuthServerMetadata: Sendable, Hashable {
    /// The identifier of the issuer: an https URL without query and fragment.
    public var issuer: String
    /// The token endpoint.
    public var tokenEndpoint: URL
    /// The page where the user logs in.
    public var authorizationEndpoint: URL?
    /// The endpoint that begins a device authorization (RFC 8628).
    public var deviceAuthorizationEndpoint: URL?
    /// The endpoint that revokes tokens (RFC 7009).
    public var revocationEndpoint: URL?
    /// The methods of PKCE that the issuer supports; nil if it does not say.
    public var codeChallengeMethods: [String]?
    /// Whether the answers of the browser name the issuer (RFC 9207). Then an answer without its name is refused; one
    /// with another name always is. The default is false.
    public var namesIssuerInAnswers = false

    /// Makes metadata by hand.
    ///
    /// - Parameters:
    ///   - issuer: The identifier of the issuer.
    ///   - tokenEndpoint: The token endpoint.
    ///   - configure: Sets the other properties.
    public init(issuer: String, tokenEndpoint: URL, _ configure: (inout OAuthServerMetadata) -> Void = { _ in }) {
        self.issuer = issuer
        self.tokenEndpoint = tokenEndpoint
        configure(&self)
    }

    /// Checks an endpoint.
    ///
    /// - Parameters:
    ///   - url: The endpoint; nil if the issuer has none.
    ///   - name: The name of the endpoint for messages.
    func endpoint(_ url: URL?, _ name: String) throws(OAuthError) -> URL {
        guard let url else { throw OAuthError(.unsupported, "\(issuer.oneLine) has no \(name).") }
        guard let origin = Origin(url.absoluteString), url.fragment == nil else {
            throw OAuthError(
                .invalidConfiguration, "The URL of the \(name) is not an http or https URL without fragment.")
        }
        // An issuer elsewhere must not direct credentials to a service of this machine.
        guard origin.isSecure || (origin.isLoopback && Origin(issuer)?.isLoopback == true) else {
            throw OAuthError(
                .insecureEndpoint, "The \(name) at \(origin) is not https, so that credentials are not sent to it.")
        }
        return url
    }
}

extension Origin {
    /// Whether the host is this machine. A resolver must say so of `localhost` (RFC 6761, section 6.3).
    var isLoopback: Bool { host == "localhost" || host == "::1" || isLoopbackAddress }

    private var isLoopbackAddress: Bool {
        host.hasPrefix("127.") && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || 0x30...0x39 ~= $0 }
    }
}
