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
    /// The file of the token: one for each issuer and client.
    let file: URL

    /// Returns nil without a login.
    init?(_ arguments: Arguments) throws {
        guard let issuer = arguments.login else {
            guard !arguments.device, arguments.scopes.isEmpty, arguments.clientID == nil else {
                throw UsageError("--device, --scope and --client-id need --login.")
            }
            return nil
        }
        self.issuer = issuer
        clientID = arguments.clientID ?? "linnet-request"
        scopes = arguments.scopes
        isOnDevice = arguments.device
        guard let folder = BaseDirectories.current.path(.state) else {
            throw UsageError("--login keeps the token in XDG_STATE_HOME or the home directory, and neither is known.")
        }
        file = URL(filePath: folder).appending(path: "linnet/tokens/\(Self.name(issuer))@\(Self.name(clientID)).json")
    }

    /// A text as a part of a file name. Different texts have different names.
    private static func name(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): String(UnicodeScalar(byte))
            default: "_" + String(byte, radix: 16)
            }
        }.joined()
    }

    /// Returns the credential for the origin of a URL alone. Logs in if no token is stored.
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
