internal import FoundationEssentials
internal import LinnetMessages
public import LinnetSession

/// A client of an issuer (RFC 6749), which gets, renews and revokes tokens.
///
/// ```swift
/// let server = try await OAuthServerMetadata.discover("https://login.example.com", with: session)
/// let client = OAuthClient(id: "my-program", server: server, session: session) { $0.scopes = ["posts"] }
/// let token = try await client.authorizeDevice { print("Open \($0.verificationURI) and enter \($0.userCode)") }
/// ```
/// Requests go to the endpoints of the issuer through the session that is given, with their own timeout. They follow no
/// redirects, are not repeated, and read at most 1 MiB. Following RFC 9700, there is neither the implicit grant nor the
/// grant of the user's password, and endpoints must be https, except on this machine.
public struct OAuthClient: Sendable {
    /// The identifier of the client.
    public let id: String
    /// How the client proves its identity to the issuer.
    public let authentication: Authentication
    /// The endpoints of the issuer.
    public let server: OAuthServerMetadata
    /// The scopes to ask for. The default is none: the issuer decides.
    public var scopes: [String] = []
    /// The resources for which tokens are requested (RFC 8707): absolute URIs without fragment. The default is none.
    public var resources: [String] = []
    /// The longest time for one request to an endpoint. The default is 30 seconds. Exceeding it is
    /// ``OAuthError/Code/timeout``.
    public var timeout: Duration = .seconds(30)
    /// Measures the waits of a login. The default is the continuous clock.
    public var clock: any Clock<Duration> = ContinuousClock()

    private(set) var session: HTTPSession
    /// The time for the expiry of tokens.
    var now: @Sendable () -> Date = { Date() }

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - id: The identifier of the client.
    ///   - authentication: How the client proves its identity. The default is none, for programs on the machines of
    ///     their users, which cannot keep a secret (RFC 8252, section 8.5).
    ///   - server: The endpoints of the issuer.
    ///   - session: The session for the requests to the endpoints. It needs no settings; a session whose authenticator
    ///     uses this client is possible, too.
    ///   - configure: Sets the other properties.
    public init(
        id: String, authentication: Authentication = .none, server: OAuthServerMetadata, session: HTTPSession,
        _ configure: (inout OAuthClient) -> Void = { _ in }
    ) {
        self.id = id
        self.authentication = authentication
        self.server = server
        self.session = session
        configure(&self)
    }

    /// The client with another session.
    func with(_ session: HTTPSession) -> OAuthClient {
        var client = self
        client.session = session
        return client
    }
}

extension OAuthClient {
    /// How a client proves its identity to the token endpoint (RFC 6749, section 2.3).
    public struct Authentication: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        enum Method: Sendable, Hashable {
            case none
            case basic(String)
            case post(String)
        }

        let method: Method

        /// No proof: a public client, which sends its identifier.
        public static let none = Authentication(method: .none)

        /// The secret in the Authorization field (`client_secret_basic`).
        public static func basic(secret: String) -> Authentication { Authentication(method: .basic(secret)) }

        /// The secret in the body (`client_secret_post`), for issuers that do not support ``basic(secret:)``.
        public static func post(secret: String) -> Authentication { Authentication(method: .post(secret)) }

        /// Whether there is a secret.
        var isConfidential: Bool { self != .none }

        /// The name of the method, without the secret.
        public var description: String {
            switch method {
            case .none: "none"
            case .basic: "client_secret_basic"
            case .post: "client_secret_post"
            }
        }

        /// Shows the method, without the secret.
        public var customMirror: Mirror { Mirror(self, children: ["method": description]) }
    }
}
