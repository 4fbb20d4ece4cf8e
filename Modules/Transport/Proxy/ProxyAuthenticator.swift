internal import LinnetAuthentication
internal import LinnetMessages
internal import Synchronization

/// Authenticates the requests to one HTTP proxy (RFC 9110, 11.7), for all connections through it.
///
/// A proxy in clear text gets an answer after it has asked for one, and from then on with each request: with the strongest
/// scheme that it offers. A proxy over TLS gets the password at once.
final class ProxyAuthenticator: Sendable {
    private let machine: Mutex<ProxyAuthentication>

    init(_ proxy: Proxy) {
        machine = Mutex(ProxyAuthentication(proxy))
    }

    /// The value of Proxy-Authorization for a request; nil for none.
    ///
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - uri: The request target as it is sent (RFC 9112, 3.2).
    func authorization(method: String, uri: String) -> String? {
        // The answer is made without this lock, since Digest counts its answers under one of its own.
        let state = machine.withLock { $0 }
        return state.authorization(method: method, uri: uri)
    }

    /// Whether the proxy may ask for a user name that it has not been told yet.
    var awaitsChallenge: Bool { machine.withLock { $0.awaitsChallenge } }

    /// Takes the values of Proxy-Authenticate. Returns whether the request may be sent again, with an answer to them.
    func isAnswering(_ challenges: [String]) -> Bool {
        machine.withLock { $0.challenged(challenges) }
    }
}

/// The state of authentication at a proxy. Pure.
struct ProxyAuthentication {
    private enum Phase {
        /// The proxy has not asked.
        case unasked
        /// The proxy is told before it asks.
        case telling(String)
        case answering(Authenticator)
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

    var awaitsChallenge: Bool { if case .unasked = phase { credential != nil } else { false } }

    func authorization(method: String, uri: String) -> String? {
        switch phase {
        case .unasked: nil
        case .telling(let value): value
        case .answering(let authenticator): authenticator.answer(method: method, uri: uri).value
        }
    }

    mutating func challenged(_ challenges: [String]) -> Bool {
        guard let credential,
            let authenticator = Authenticator(
                credential, for: AuthenticationChallenge.parse(challenges), allowsBasic: true)
        else { return false }
        phase = .answering(authenticator)
        return true
    }
}
