internal import FoundationEssentials
internal import LinnetMessages
internal import LinnetSecurity

/// A request for a code in the user's browser, with PKCE (RFC 6749, section 4.1; RFC 7636).
struct AuthorizationRequest: Sendable {
    /// Binds the answer to the request.
    let state: String
    /// The secret that proves to the token endpoint who made the request.
    let verifier: String
    /// The address that the browser returns to.
    let redirectURI: String
    let server: OAuthServerMetadata

    init(redirectURI: String, server: OAuthServerMetadata) {
        state = Self.randomText()
        verifier = Self.randomText()
        self.redirectURI = redirectURI
        self.server = server
    }

    /// The challenge of the verifier by S256 (RFC 7636, section 4.2).
    static func challenge(of verifier: String) -> String {
        base64URL(Array(verifier.utf8).withUnsafeBytes { SHA256Hasher.digest(of: $0) })
    }

    /// The address of the login page.
    ///
    /// - Parameters:
    ///   - endpoint: The authorization endpoint, which may have a query.
    ///   - clientID: The identifier of the client.
    ///   - parameters: Other parameters.
    func url(_ endpoint: URL, clientID: String, _ parameters: [(String, String)]) throws(OAuthError) -> URL {
        let query = FormEncoding.encode(
            [
                ("response_type", "code"), ("client_id", clientID), ("redirect_uri", redirectURI), ("state", state),
                ("code_challenge", Self.challenge(of: verifier)), ("code_challenge_method", "S256"),
            ] + parameters)
        let text = endpoint.absoluteString
        guard let url = URL(string: text + (endpoint.query == nil ? "?" : "&") + query) else {
            throw OAuthError(.invalidConfiguration, "The authorization endpoint has no valid URL.")
        }
        return url
    }

    /// 256 bits from the system's generator, as 43 characters that need no encoding.
    private static func randomText() -> String {
        var random = SystemRandomNumberGenerator()
        return base64URL((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

// MARK: - The answer

extension AuthorizationRequest {
    /// The judgement on an answer of the browser.
    enum Verdict: Sendable {
        /// It is no answer: the login goes on.
        case ignored
        /// It is the answer of another login, such as one in an old page: this login goes on.
        case otherLogin
        case code(String)
        case failure(OAuthError)
    }

    /// Judges the query of an answer (RFC 6749, sections 4.1.2 and 4.1.2.1; RFC 9207).
    func judge(_ query: Substring) -> Verdict {
        let answer = Answer(query)
        let states = answer.values("state")
        guard !states.isEmpty else { return .ignored }
        guard states.count == 1, Self.isEqual(states[0], state) else { return .otherLogin }
        do throws(OAuthError) {
            try checkIssuer(try answer.value("iss"))
            if let error = try answer.value("error") {
                let response = OAuthError.ErrorResponse(
                    error: error, description: try answer.value("error_description"),
                    uri: try answer.value("error_uri"))
                throw OAuthError(response, endpoint: Answer.name)
            }
            guard let code = try answer.value("code"), !code.isEmpty else {
                throw .invalidResponse(Answer.name, "it has no code")
            }
            return .code(code)
        } catch {
            return .failure(error)
        }
    }

    private func checkIssuer(_ issuer: String?) throws(OAuthError) {
        guard let issuer else {
            guard !server.namesIssuerInAnswers else {
                throw OAuthError(.issuerMismatch, "The browser's answer does not name the issuer, which it must.")
            }
            return
        }
        guard issuer == server.issuer else {
            throw OAuthError(.issuerMismatch, "The browser's answer is one of \"\(issuer.oneLine)\".")
        }
    }

    /// Compares in a time that depends on the lengths alone.
    static func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The parameters of an answer.
    private struct Answer {
        static let name = "authorization endpoint"
        let parameters: [(name: String, value: String)]

        init(_ query: Substring) {
            parameters = query.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (FormEncoding.decode(parts[0]), parts.count > 1 ? FormEncoding.decode(parts[1]) : "")
            }
        }

        func values(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }

        /// The value of a parameter, which must not be repeated (RFC 6749, section 3.1).
        func value(_ name: String) throws(OAuthError) -> String? {
            let values = values(name)
            guard values.count <= 1 else { throw .invalidResponse(Self.name, "it repeats the parameter \(name)") }
            return values.first
        }
    }
}
