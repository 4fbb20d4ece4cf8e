internal import HTTPTypes
internal import LinnetAuthentication
internal import LinnetMessages
internal import Synchronization

/// Authenticates the requests to one HTTP proxy (RFC 9110, 11.7), for all connections through it.
///
/// A proxy in clear text gets an answer after its first challenge, and then with each request, in its strongest offered
/// scheme. A proxy over TLS gets the password at once.
final class ProxyAuthenticator: Sendable {
    private let machine: Mutex<ProxyAuthentication>

    init(_ proxy: Proxy) {
        machine = Mutex(ProxyAuthentication(proxy))
    }

    /// Returns a request's answer to the proxy.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - uri: The request target as it is sent (RFC 9112, 3.2).
    ///   - body: The body of the request.
    func answer(method: String, uri: String, body: TransportRequestBody? = nil) -> ProxyAnswer {
        // The answer is made without this lock, because Digest counts its answers under its own.
        let state = machine.withLock { $0 }
        return state.answer(method: method, uri: uri, body: body)
    }

    /// Takes the values of Proxy-Authenticate, as characters of ISO 8859-1.
    func challenged(_ challenges: [String], after sent: ProxyAnswer) -> ProxyReply {
        let hadCompany = sent.digest?.hadCompany ?? false
        return machine.withLock { $0.challenged(challenges, after: sent, hadCompany: hadCompany) }
    }

    /// Takes the response to a forwarded request. Returns nil if it is for the caller.
    func received(_ response: HTTPResponse, after sent: ProxyAnswer) -> ProxyReply? {
        let hadCompany = sent.digest?.hadCompany ?? false
        if let reply = machine.withLock({ $0.received(response, after: sent, hadCompany: hadCompany) }) { return reply }
        return isProven(by: response.headerFields.isoLatin1Values(of: .proxyAuthenticationInfo), after: sent)
            ? nil : .wrongProof
    }

    /// Takes the values of Proxy-Authentication-Info, which may have another nonce (RFC 7616, 3.5). Returns false if
    /// they have a proof that the proxy does not know the password.
    func isProven(by info: [String], after sent: ProxyAnswer) -> Bool {
        do throws(AuthenticationError) {
            try sent.digest?.verify(info)
            return true
        } catch {
            return false
        }
    }
}

/// A request's answer to a proxy.
struct ProxyAnswer: Equatable, Sendable {
    /// The value of Proxy-Authorization, with each octet as a character (ISO 8859-1); nil for none.
    var authorization: String?
    /// Verifies the proxy's reply; nil for none.
    var digest: AuthenticationAnswer?
    /// Whether the body waits for `100 Continue`, since the proxy may challenge the request.
    var asksFirst = false
}

/// The reply of a proxy to a request that it does not forward.
enum ProxyReply {
    /// A challenge that another answer may satisfy.
    case challenge
    /// A challenge that says nothing about the password: the request had no answer, or only its nonce was wrong (RFC
    /// 7616, 3.3, stale).
    case question
    /// A challenge that there is no other answer to.
    case refusal
    /// The proxy or the origin does not answer requests with a waiting body (RFC 9110, 15.5.18).
    case refusesToWait
    /// A response with a wrong proof that the proxy knows the password.
    case wrongProof
}

/// Counts the challenges of a proxy to one request, which limits how often the request is sent.
struct ProxyChallenges {
    /// The number of times that a request is sent again without a verdict on the password.
    private static let limit = 8

    private var questions = 0
    private var isAnswered = false

    /// Takes a challenge. Returns whether the request is sent again with another answer: the first one may have had a
    /// nonce that the proxy has forgotten; a refusal of the next answer concerns the password.
    mutating func mayAnswer(_ reply: ProxyReply) -> Bool {
        defer { isAnswered = true }
        guard case .question = reply else { return !isAnswered }
        questions += 1
        return questions <= Self.limit
    }
}

/// The state of authentication at a proxy. Pure.
struct ProxyAuthentication {
    private enum Phase {
        /// The proxy has not asked.
        case unasked
        /// The proxy has forwarded a request without asking.
        case unneeded
        /// The answer is sent before a challenge.
        case telling(String)
        case answering(ChallengeResponderStock)
    }

    private let credential: Credential?
    private var phase = Phase.unasked

    init(_ proxy: Proxy) {
        let (username, password) = (proxy.username ?? "", proxy.password ?? "")
        // MD5 protects the password better than Basic, which the proxy may ask for instead.
        credential =
            proxy.hasCredentials ? try? .password(username: username, password: password, allowsMD5: true) : nil
        if proxy.kind == .https, credential != nil {
            phase = .telling(AuthorizationValue.basic(username: username, password: password))
        }
    }

    func answer(method: String, uri: String, body: TransportRequestBody? = nil) -> ProxyAnswer {
        switch phase {
        case .unasked: return ProxyAnswer(asksFirst: body != nil && credential != nil)
        case .unneeded: return ProxyAnswer()
        case .telling(let value): return ProxyAnswer(authorization: value)
        case .answering(let stock):
            guard let authenticator = stock.next() else { return ProxyAnswer(asksFirst: body != nil) }
            // The proxy asks again when it no longer knows the nonce.
            let answer = authenticator.answer(method: method, uri: uri)
            return ProxyAnswer(
                authorization: answer.value, digest: authenticator.isDigest ? answer : nil,
                asksFirst: authenticator.isDigest && body?.isReplayable == false)
        }
    }

    /// Takes the values of Proxy-Authenticate, as characters of ISO 8859-1.
    ///
    /// - Parameter hadCompany: Whether the nonce of the answer has been used by several requests at once.
    mutating func challenged(_ values: [String], after sent: ProxyAnswer, hadCompany: Bool = false) -> ProxyReply {
        let challenges = AuthenticationChallenge.parse(isoLatin1: values)
        guard let credential, let authenticator = ChallengeResponder(credential, for: challenges, allowsBasic: true)
        else {
            return .refusal
        }
        // The same password again is refused again.
        if !authenticator.isDigest, authenticator.answer(method: "", uri: "").value == sent.authorization {
            return .refusal
        }
        if case .answering(var stock) = phase {
            if let digest = sent.digest { stock.refused(digest, hadCompany: hadCompany) }
            stock.add(authenticator)
            phase = .answering(stock)
        } else {
            phase = .answering(ChallengeResponderStock(authenticator))
        }
        return sent.authorization == nil || sent.digest?.isStale(by: challenges) == true ? .question : .challenge
    }

    mutating func received(
        _ response: HTTPResponse, after sent: ProxyAnswer, hadCompany: Bool = false
    ) -> ProxyReply? {
        switch response.status.code {
        case 407:
            let challenges = response.headerFields.isoLatin1Values(of: .proxyAuthenticate)
            return challenged(challenges, after: sent, hadCompany: hadCompany)
        case 417 where sent.asksFirst:
            return .refusesToWait
        default:
            if case .unasked = phase { phase = .unneeded }
            return nil
        }
    }
}
