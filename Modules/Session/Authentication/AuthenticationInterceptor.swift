internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetAuthentication
internal import LinnetCache
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

/// The interceptor that responds to 401 (RFC 9110, section 11). It runs inside the redirect interceptor: the credentials
/// that it adds are for one origin, and outer interceptors never see them.
final class AuthenticationInterceptor: PassiveInterceptor {
    /// The maximum number of attempts to authenticate one request.
    private static let attemptLimit = 8

    let store: CredentialStore?

    init(store: CredentialStore?) {
        self.store = store
    }

    func passes(_ request: SessionRequest, _ exchange: Exchange, _ descent: inout Descent) -> Bool {
        store == nil && exchange.call.hooks == nil
    }

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        let target = try RequestTarget(request.url)
        let isOwn = request.headerFields.contains(.authorization) || target.userInfo != nil
        var exchange = Authentication(target: target, isOwn: isOwn)
        guard !isOwn, let known = store?.authenticator(before: target), known.canAnswer(request) else {
            if isOwn { exchange.failures = 1 }
            let response = try await next(request)
            guard response.head.status == .unauthorized else { return response }
            return try await authenticate(response, to: request, &exchange, next)
        }
        let response = try await send(request, by: known, &exchange, next, isPreemptive: true)
        guard response.head.status == .unauthorized else { return response }
        return try await authenticate(response, to: request, &exchange, next)
    }

    /// Answers challenges until the server accepts an answer, or there is none left.
    private func authenticate(
        _ first: StreamedResponse, to request: SessionRequest, _ exchange: inout Authentication,
        _ next: InterceptorChain
    ) async throws(SessionError) -> StreamedResponse {
        var (request, response) = (request, first)
        var attempts: [TransportMetrics] = []
        while response.head.status == .unauthorized,
            let authenticator = try await authenticator(for: response, &exchange, next)
        {
            request = try await next.readable(request, after: response)
            await response.body.drain()
            attempts += response.metrics
            do {
                response = try await send(request, by: authenticator, &exchange, next)
            } catch {
                throw error.adding(attempts)
            }
            if response.head.status != .unauthorized { store?.accepted(authenticator, at: exchange.target) }
        }
        response.attempts = attempts + response.attempts
        return response
    }

    /// Sends the request with an answer, and verifies the server's.
    private func send(
        _ request: SessionRequest, by authenticator: Authenticator, _ exchange: inout Authentication,
        _ next: InterceptorChain, isPreemptive: Bool = false
    ) async throws(SessionError) -> StreamedResponse {
        let hash: String? =
            if let algorithm = authenticator.bodyAlgorithm {
                try await request.bodyHash(algorithm, until: next.exchange.deadline)
            } else {
                nil
            }
        let answer = authenticator.answer(
            method: request.method.rawValue, uri: exchange.target.path, bodyHash: hash)
        exchange.sent(.init(authenticator: authenticator, answer: answer, isPreemptive: isPreemptive))
        var authorized = request
        authorized.headerFields[isoLatin1: .authorization] = answer.value
        let response = try await next(authorized)
        guard response.head.status != .unauthorized else { return response }
        do {
            try answer.verify(response.head.headerFields.isoLatin1Values(of: .authenticationInfo))
        } catch {
            throw SessionError(error, url: request.url).adding(response)
        }
        return response
    }

    /// Returns what to answer to a 401, or nil if there is nothing left.
    private func authenticator(
        for response: StreamedResponse, _ exchange: inout Authentication, _ next: InterceptorChain
    ) async throws(SessionError) -> Authenticator? {
        let challenges = AuthenticationChallenge.parse(
            isoLatin1: response.head.headerFields.isoLatin1Values(of: .wwwAuthenticate))
        if let answer = exchange.last?.answer { store?.refused(answer, at: exchange.target) }
        if let renewed = exchange.renewed(by: challenges) { return renewed }
        if let refused = exchange.countRefusal(by: challenges) { store?.refused(refused, at: exchange.target) }
        guard exchange.failures < Self.attemptLimit else { return nil }
        return try await choose(for: response, challenges, exchange, next)
    }

    private func choose(
        for response: StreamedResponse, _ challenges: [AuthenticationChallenge], _ exchange: Authentication,
        _ next: InterceptorChain
    ) async throws(SessionError) -> Authenticator? {
        let origin = exchange.target.origin
        let proposal =
            exchange.isOwn ? nil : store?.authenticator(for: challenges, of: origin, refused: exchange.refused)
        guard let hooks = next.exchange.call.hooks else { return proposal }
        let attempt = AuthenticationAttempt(
            origin: origin, challenges: challenges, head: response.head, failures: exchange.failures,
            proposedCredential: proposal?.credential)
        switch try await hooks.didReceiveChallenge(attempt) {
        case nil, .performDefault: return proposal
        case .use(let credential):
            guard !exchange.refused.contains(credential) else { return nil }
            // A token or a Basic credential is sent whatever the challenges are; a password can only answer them.
            return Authenticator(withoutChallenge: credential)
                ?? Authenticator(credential, for: challenges, allowsBasic: origin.isSecure)
        case .reject: return nil
        case .cancel:
            throw SessionError(
                .authenticationCancelled, "A hook cancelled the authentication.", url: response.url
            ).adding(response)
        }
    }
}

/// The state of one request's authentication.
private struct Authentication {
    /// What an attempt has sent.
    struct Sent {
        let authenticator: Authenticator
        let answer: AuthenticationAnswer
        /// Whether it was sent before any challenge.
        let isPreemptive: Bool
    }

    /// How often one request is repeated because the server says that its nonce is stale.
    private static let renewalLimit = 3

    let target: RequestTarget
    /// Whether the request has credentials of its own, which those of the store do not replace.
    let isOwn: Bool
    var failures = 0
    private(set) var refused: Set<Credential> = []
    private(set) var last: Sent?
    private var renewals = 0

    init(target: RequestTarget, isOwn: Bool) {
        (self.target, self.isOwn) = (target, isOwn)
    }

    mutating func sent(_ sent: Sent) {
        last = sent
    }

    /// Returns the last answer's authenticator with a new nonce, if only its nonce was wrong.
    mutating func renewed(by challenges: [AuthenticationChallenge]) -> Authenticator? {
        guard renewals < Self.renewalLimit, let last,
            let renewed = last.authenticator.renewed(by: challenges, after: last.answer)
        else { return nil }
        renewals += 1
        return renewed
    }

    /// Counts the last answer as refused, and returns its credential; nil if none was refused.
    mutating func countRefusal(by challenges: [AuthenticationChallenge]) -> Credential? {
        guard let sent = last else { return nil }
        last = nil
        // The nonce of an earlier response may have expired, or belong to another realm, which not all servers say. And a
        // password that was sent by Basic, which another path asked for, may be right for the Digest that this one asks for.
        let isOfAnotherQuestion =
            sent.authenticator.isDigest
            || sent.authenticator.credential.scheme == "digest" && challenges.contains { $0.scheme == "digest" }
        guard !sent.isPreemptive || !isOfAnotherQuestion else { return nil }
        failures += 1
        refused.insert(sent.authenticator.credential)
        return sent.authenticator.credential
    }
}

extension Authenticator {
    /// Whether it can answer before the request is sent: with auth-int, the body has to be read for that.
    fileprivate func canAnswer(_ request: SessionRequest) -> Bool {
        bodyAlgorithm == nil || request.body?.isReplayable ?? true
    }
}

extension SessionError {
    /// Returns the error with the metrics of earlier attempts before its own.
    func adding(_ attempts: [TransportMetrics]) -> SessionError {
        var error = self
        error.metrics = attempts + metrics
        return error
    }
}
