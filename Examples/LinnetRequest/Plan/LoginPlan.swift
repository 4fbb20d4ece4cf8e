import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetOAuth

/// How the user logs in, from the validated command line.
struct LoginPlan {
    let issuer: String
    let clientID: String
    let scopes: [String]
    /// Whether the login is on another device, although there may be a display.
    let isOnDevice: Bool
    /// The file of the token: one for each issuer and client. Its name has a limited length.
    let file: URL
    /// The policy for the issuer, to which pins do not apply.
    let issuerPolicy: SecurityPolicy

    /// Returns nil without a login.
    init?(_ arguments: LoginArguments, _ connection: ConnectionArguments) throws {
        guard let issuer = arguments.issuer else {
            guard !arguments.device, arguments.scopes.isEmpty, arguments.clientID == nil else {
                throw UsageError("--device, --scope and --client-id need --login.")
            }
            return nil
        }
        self.issuer = issuer
        clientID = arguments.clientID ?? "linnet-request"
        scopes = arguments.scopes
        isOnDevice = arguments.device
        issuerPolicy = try TrustPlan.issuerPolicy(connection)
        guard let folder = BaseDirectories.current.path(.state) else {
            throw UsageError("--login keeps the token in XDG_STATE_HOME or the home directory, and neither is known.")
        }
        file = URL(filePath: folder).appending(
            path: "linnet/tokens/\(TokenFileName.of(issuer))@\(TokenFileName.of(clientID)).json")
    }

    /// Whether the issuer is not https, so that a proxy, also the environment's, would see the tokens.
    var isIssuerInClear: Bool { issuer.lowercased().hasPrefix("http:") }

    /// Throws if a token could be read on its way.
    func validate(_ request: SessionRequest, _ arguments: ConnectionArguments) throws {
        let url = request.url
        guard !request.headerFields.contains(.authorization) else {
            throw UsageError("--login and a header field Authorization exclude each other.")
        }
        guard !arguments.isInsecure else { throw UsageError("--login and -k exclude each other.") }
        // A Bearer token leaves this machine encrypted only (RFC 6750, section 5.3).
        guard url.scheme?.lowercased() == "https" || Self.staysOnThisMachine(arguments, url) else {
            throw UsageError("--login needs an https URL, but the URL is \(url.absoluteString).")
        }
        // An issuer on this machine may be http, but the proxy would see the tokens.
        guard arguments.proxy == nil || !isIssuerInClear else {
            throw UsageError("--login at an http issuer and --proxy exclude each other.")
        }
    }

    private static func staysOnThisMachine(_ arguments: ConnectionArguments, _ url: URL) -> Bool {
        guard arguments.proxy == nil, let origin = Origin(url.absoluteString) else { return false }
        return arguments.unixSocket != nil || ["localhost", "127.0.0.1", "::1"].contains(origin.host)
    }

    /// Returns the credential for the origin of a URL alone. Logs in if no token with the scopes is stored.
    ///
    /// - Parameters:
    ///   - url: The URL of the request.
    ///   - issuer: The session for requests to the issuer.
    func credential(for url: URL, with session: HTTPSession) async throws -> RenewableCredential<OAuthAuthenticator> {
        let server = try await OAuthServerMetadata.discover(issuer, with: session)
        let client = OAuthClient(id: clientID, server: server, session: session) { $0.scopes = scopes }
        let rules = OAuthAuthenticator(client: client, store: try FileTokenStore(file))
        if try await needsLogin(rules) {
            try await rules.store.replace(with: logIn(client))
        }
        return try await rules.makeCredential(for: [Origin(url.absoluteString)].compactMap { $0 })
    }

    private func needsLogin(_ rules: OAuthAuthenticator) async throws -> Bool {
        guard let token = try await rules.store.token() else { return true }
        guard Set(scopes).isSubset(of: token.scopes ?? []) else { return true }
        return token.refreshToken == nil && rules.needsRenewal(token)
    }

    private func logIn(_ client: OAuthClient) async throws -> OAuthToken {
        let canUseDevice = client.server.deviceAuthorizationEndpoint != nil
        if isOnDevice || (canUseDevice && !Self.hasDisplay) {
            return try await client.authorizeDevice { device in
                try Self.tell("Open \(device.verificationURI) and enter \(device.userCode)")
            }
        }
        return try await client.authorize { page in
            try Self.tell("Log in with the browser at \(page)")
            // The user can open the page by hand.
            try? await OAuthClient.openInBrowser(page)
        }
    }

    private static var hasDisplay: Bool {
        let environment = ProcessInfo.processInfo.environment
        return ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
    }

    private static func tell(_ text: String) throws {
        try StandardStream.error.write(OneLine.text(text) + "\n")
    }
}
