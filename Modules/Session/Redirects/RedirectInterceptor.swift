internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSecurity
internal import LinnetSerialization
internal import LinnetTransport

/// The interceptor that follows redirects (RFC 9110, section 15.4).
final class RedirectInterceptor: PassiveInterceptor {
    let policy: RedirectPolicy
    /// The hosts for which a target is changed from http to https.
    let hstsStore: HSTSStore?
    /// Knows which hosts are on unix sockets.
    let transport: any Transport
    /// The fields that are not sent to another origin.
    let secrets: Set<HTTPField.Name>

    init(policy: RedirectPolicy, hstsStore: HSTSStore?, transport: any Transport, secrets: Set<HTTPField.Name>) {
        self.policy = policy
        self.secrets = secrets
        self.hstsStore = hstsStore
        self.transport = transport
    }

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        try await follow(next(request), to: request, next)
    }

    /// What redirects is in the response.
    func passes(_ request: SessionRequest, _ exchange: Exchange, _ descent: inout Descent) -> Bool { true }

    func passes(_ response: inout StreamedResponse, to request: SessionRequest, _ exchange: Exchange) -> Bool {
        !response.head.status.isRedirect || policy.limit <= 0 && exchange.call.hooks == nil
    }

    func intercept(
        _ outcome: Result<StreamedResponse, SessionError>, of request: SessionRequest, descent: Descent,
        next: InterceptorChain
    ) async throws -> StreamedResponse {
        try await follow(outcome.get(), to: request, next)
    }

    private func follow(
        _ first: StreamedResponse, to original: SessionRequest, _ next: InterceptorChain
    ) async throws(SessionError) -> StreamedResponse {
        var (request, response) = (original, first)
        var (history, attempts): ([HTTPRedirect], [TransportMetrics]) = ([], [])
        do {
            // If the policy follows no redirects, a hook can still decide to follow them.
            let isAsked = policy.limit > 0 || next.exchange.call.hooks?.isSeen(\.willRedirect) == true
            while isAsked, var target = try response.redirectTarget() {
                if let hstsStore {
                    target = hstsStore.upgrading(target)
                    // The URL that was requested may have been changed too.
                    request.url = response.url
                }
                let redirect = HTTPRedirect(head: response.head, url: response.url, target: target)
                let proposal = try propose(target, for: request, response, followed: history.count)
                guard var following = try await decide(on: redirect, proposal, from: request, next) else { break }
                following = try await next.readable(following, after: response)
                await response.body.drain()
                attempts += response.metrics
                history.append(redirect)
                request = following
                response = try await next(request)
            }
        } catch {
            throw error.adding(history, attempts)
        }
        response.redirects = history + response.redirects
        response.attempts = attempts + response.attempts
        return response
    }

    /// Returns the request that follows the redirect; throws if the policy forbids it.
    private func propose(
        _ target: URL, for request: SessionRequest, _ response: StreamedResponse, followed: Int
    ) throws(SessionError) -> SessionRequest {
        let limit = policy.limit > 0 ? policy.limit : RedirectPolicy.follow.limit
        guard followed < limit else {
            throw SessionError(
                .tooManyRedirects, "The request was redirected more than \(limit) times.", url: response.url
            ).adding(response)
        }
        let proposal = try request.redirected(to: target, by: response.head.status, without: secrets)
        try check(proposal, from: request.url, response)
        return proposal
    }

    private func check(_ request: SessionRequest, from url: URL, _ response: StreamedResponse) throws(SessionError) {
        let (source, target) = (try Origin(url), try Origin(request.url))
        guard target.scheme == "https" || source.scheme == "http" else {
            throw .redirectRefused("The response redirects from https to http.", response)
        }
        guard !policy.staysAtOrigin || source == target else {
            throw .redirectRefused("The response redirects to another origin.", response)
        }
        // Such a service relies on who can open its socket, and not on what a server of the network can ask for.
        if let path = transport.unixSocket(of: target), transport.unixSocket(of: source) != path {
            throw .redirectRefused("The response redirects to \(target.host), which is on a unix socket.", response)
        }
    }

    /// Returns the request that the hook chooses; nil if the redirect is not to be followed.
    private func decide(
        on redirect: HTTPRedirect, _ proposal: SessionRequest, from request: SessionRequest, _ next: InterceptorChain
    ) async throws(SessionError) -> SessionRequest? {
        let byDefault = policy.limit > 0 ? proposal : nil
        guard let hooks = next.exchange.call.hooks else { return byDefault }
        switch try await hooks.willRedirect(redirect, proposal) {
        case nil:
            return byDefault
        case .doNotFollow:
            return nil
        case .follow(var changed):
            changed.url = hstsStore?.upgrading(changed.url) ?? changed.url
            // A hook that only changes the URL must not send the credentials of one origin to another.
            let (target, proposed) = (try RequestTarget(changed.url), try RequestTarget(proposal.url))
            if target.origin != proposed.origin, try target.origin != Origin(request.url) {
                changed.headerFields.remove(secrets, sharedWith: proposal.headerFields)
                if target.userInfo == proposed.userInfo { changed.url = changed.url.withoutUserInfo }
            }
            try check(changed, from: request.url, StreamedResponse(url: redirect.url, head: redirect.head))
            return changed
        }
    }
}

extension SessionError {
    /// Returns the error with the redirects and attempts before it.
    fileprivate func adding(_ history: [HTTPRedirect], _ attempts: [TransportMetrics]) -> SessionError {
        var error = adding(attempts)
        error.redirects = history + redirects
        return error
    }
}
