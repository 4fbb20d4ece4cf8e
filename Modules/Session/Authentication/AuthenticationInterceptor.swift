internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetAuthentication
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

/// The interceptor that responds to 401 (RFC 9110, section 11). It runs inside the redirect interceptor: the credentials
/// that it adds are for one origin, and outer interceptors never see them.
struct AuthenticationInterceptor: Interceptor {
    /// The maximum number of attempts to authenticate one request.
    private static let attemptLimit = 8

    let store: CredentialStore?

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        let target = try RequestTarget(request.url)
        let isOwn = request.headerFields.contains(.authorization) || target.userInfo != nil
        let credential = isOwn ? nil : store?.credential(before: target)
        let response = try await next(credential.map(request.authorized) ?? request)
        guard response.head.status == .unauthorized else { return response }
        var exchange = Authentication(target: target, isOwn: isOwn)
        if let credential { refused(credential, &exchange) }
        if isOwn { exchange.failures = 1 }
        return try await answer(response, to: request, &exchange, next)
    }

    private func answer(
        _ first: StreamedResponse, to request: SessionRequest, _ exchange: inout Authentication,
        _ next: InterceptorChain
    ) async throws(SessionError) -> StreamedResponse {
        var (request, response) = (request, first)
        var attempts: [TransportMetrics] = []
        while exchange.failures < Self.attemptLimit, response.head.status == .unauthorized,
            let credential = try await choose(for: response, exchange, next)
        {
            request = try await next.readable(request, after: response)
            await response.body.drain()
            attempts += response.metrics
            do {
                response = try await next(request.authorized(by: credential))
            } catch {
                throw error.adding(attempts)
            }
            if response.head.status == .unauthorized {
                refused(credential, &exchange)
            } else {
                store?.accepted(credential, at: exchange.target)
            }
        }
        response.attempts = attempts + response.attempts
        return response
    }

    private func refused(_ credential: Credential, _ exchange: inout Authentication) {
        exchange.failures += 1
        exchange.refused.insert(credential)
        store?.refused(credential, at: exchange.target)
    }

    /// Returns the credential to try next, or nil if there is none.
    private func choose(
        for response: StreamedResponse, _ exchange: Authentication, _ next: InterceptorChain
    ) async throws(SessionError) -> Credential? {
        let challenges = AuthenticationChallenge.parse(response.head.headerFields[values: .wwwAuthenticate])
        let proposal = exchange.isOwn ? nil : proposal(for: challenges, exchange)
        guard let hooks = next.exchange.call.hooks else { return proposal }
        let attempt = AuthenticationAttempt(
            origin: exchange.target.origin, challenges: challenges, head: response.head, failures: exchange.failures,
            proposedCredential: proposal)
        switch try await hooks.didReceiveChallenge(attempt) {
        case nil, .performDefault: return proposal
        case .use(let credential): return exchange.refused.contains(credential) ? nil : credential
        case .reject: return nil
        case .cancel:
            throw SessionError(
                .authenticationCancelled, "A hook cancelled the authentication.", url: response.url
            ).adding(response)
        }
    }

    /// Returns a stored credential that was not refused yet. The order of the schemes is Bearer, Basic.
    private func proposal(for challenges: [AuthenticationChallenge], _ exchange: Authentication) -> Credential? {
        guard let store else { return nil }
        let origin = exchange.target.origin
        for scheme in ["bearer", "basic"] {
            for challenge in challenges where challenge.scheme == scheme {
                guard let credential = store.credential(for: challenge, of: origin),
                    !exchange.refused.contains(credential)
                else { continue }
                return credential
            }
        }
        return nil
    }
}

/// The state of one request's authentication.
private struct Authentication {
    let target: RequestTarget
    /// Whether the request has credentials of its own, which those of the store do not replace.
    let isOwn: Bool
    var refused: Set<Credential> = []
    var failures = 0
}

extension SessionRequest {
    fileprivate func authorized(by credential: Credential) -> SessionRequest {
        var request = self
        request.headerFields[.authorization] = credential.authorization
        return request
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
