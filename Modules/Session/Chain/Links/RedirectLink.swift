internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSecurity
internal import LinnetSerialization
internal import LinnetTransport

/// Follows redirects (RFC 9110, section 15.4).
struct RedirectLink: ChainLink {
    /// The redirects of a flight.
    struct Note: Sendable {
        /// The followed redirects, in order.
        var history: [HTTPRedirect] = []
        /// The redirect that is about to be followed.
        var next: HTTPRedirect?
    }

    /// The rules that all requests of a session share.
    struct Rules: Sendable {
        let policy: RedirectPolicy
        /// The hosts for which a target is changed from http to https.
        let hstsStore: HSTSStore?
        /// Identifies hosts on unix sockets.
        let transport: any Transport
        /// The fields that are not sent to another origin.
        let secrets: Set<HTTPField.Name>
    }

    private let rules: Boxed<Rules>

    init(policy: RedirectPolicy, hstsStore: HSTSStore?, transport: any Transport, secrets: Set<HTTPField.Name>) {
        rules = Boxed(Rules(policy: policy, hstsStore: hstsStore, transport: transport, secrets: secrets))
    }

    func send(_ flight: inout Flight) -> ChainStep {
        flight.redirects = nil
        return .proceed
    }

    func sendAgain(_ flight: inout Flight) -> ChainStep {
        guard var note = flight.redirects?.value, let redirect = note.next else { return .proceed }
        note.history.append(redirect)
        note.next = nil
        flight.redirects = Boxed(note)
        return .proceed
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) throws(SessionError) -> ChainStep {
        let history = flight.redirects?.value.history ?? []
        do {
            if response.head.status.isRedirect, let (redirect, proposal) = try proposal(response, flight, history.count)
            {
                if let hooks = flight.hooks, hooks.isSeen(\.willRedirect), !flight.hasAnswer {
                    return .ask(.redirect(redirect, proposal: proposal))
                }
                if let following = try decision(on: redirect, proposal, &flight) {
                    flight.redirects = Boxed(Note(history: history, next: redirect))
                    return .again(following, otherwise: .fail)
                }
            }
        } catch {
            throw error.adding(history)
        }
        if !history.isEmpty { response.redirects = history + response.redirects }
        return .proceed
    }

    func receive(_ failure: inout SessionError, _ flight: inout Flight) -> ChainStep {
        if let history = flight.redirects?.value.history, !history.isEmpty { failure = failure.adding(history) }
        return .proceed
    }

    /// The redirect of a response, and the request that follows it; nil if the response does not redirect, or is not to
    /// be followed. Throws if the policy forbids it.
    private func proposal(
        _ response: StreamedResponse, _ flight: Flight, _ followed: Int
    ) throws(SessionError) -> (HTTPRedirect, SessionRequest)? {
        let rules = rules.value
        // If the policy follows no redirects, a hook can still decide to follow them.
        guard rules.policy.limit > 0 || flight.hooks?.isSeen(\.willRedirect) == true,
            var target = try response.redirectTarget()
        else { return nil }
        var request = flight.request
        if let hstsStore = rules.hstsStore {
            target = hstsStore.upgrading(target)
            // The URL that was requested may have been changed too.
            request.url = response.url
        }
        // A hook that follows redirects against the policy must not do so without end.
        let limit = rules.policy.limit > 0 ? rules.policy.limit : RedirectPolicy.follow.limit
        guard followed < limit else {
            throw SessionError(
                .tooManyRedirects, "The request was redirected more than \(limit) times.", url: response.url
            ).adding(response)
        }
        let proposal = try request.redirected(to: target, by: response.head.status, without: rules.secrets)
        try check(proposal, from: request.url, response)
        return (HTTPRedirect(head: response.head, url: response.url, target: target), proposal)
    }

    private func check(_ request: SessionRequest, from url: URL, _ response: StreamedResponse) throws(SessionError) {
        let (source, target) = (try Origin(url), try Origin(request.url))
        guard target.scheme == "https" || source.scheme == "http" else {
            throw .redirectRefused("The response redirects from https to http.", response)
        }
        guard !rules.value.policy.staysAtOrigin || source == target else {
            throw .redirectRefused("The response redirects to another origin.", response)
        }
        // Such a service relies on the permissions of its socket, and must not answer demands of a server on the
        // network.
        let transport = rules.value.transport
        if let path = transport.unixSocket(of: target), transport.unixSocket(of: source) != path {
            throw .redirectRefused("The response redirects to \(target.host), which is on a unix socket.", response)
        }
    }

    /// The request that the hook or the policy chooses; nil if the redirect is not to be followed.
    private func decision(
        on redirect: HTTPRedirect, _ proposal: SessionRequest, _ flight: inout Flight
    ) throws(SessionError) -> SessionRequest? {
        let byDefault = rules.value.policy.limit > 0 ? proposal : nil
        guard case .redirect(let decision) = flight.takeAnswer() else { return byDefault }
        switch decision {
        case nil: return byDefault
        case .doNotFollow: return nil
        case .follow(let changed): return try checked(changed, redirect, proposal, from: redirect.url)
        }
    }

    /// The request of a hook, which may have changed only the URL, and must not send the credentials of one origin to
    /// another.
    private func checked(
        _ changed: SessionRequest, _ redirect: HTTPRedirect, _ proposal: SessionRequest, from url: URL
    ) throws(SessionError) -> SessionRequest {
        var changed = changed
        let rules = rules.value
        changed.url = rules.hstsStore?.upgrading(changed.url) ?? changed.url
        let (target, proposed) = (try RequestTarget(changed.url), try RequestTarget(proposal.url))
        if target.origin != proposed.origin, try target.origin != Origin(url) {
            changed.headerFields.remove(rules.secrets, sharedWith: proposal.headerFields)
            if target.userInfo == proposed.userInfo { changed.url = changed.url.withoutUserInfo }
        }
        try check(changed, from: url, StreamedResponse(url: redirect.url, head: redirect.head))
        return changed
    }
}

extension SessionError {
    /// The error with the redirects before it.
    fileprivate func adding(_ history: [HTTPRedirect]) -> SessionError {
        var error = self
        error.redirects = history + redirects
        return error
    }
}

extension HTTPResponse.Status {
    /// Whether the status redirects with a Location field (RFC 9110, sections 15.4.2 to 15.4.9).
    var isRedirect: Bool {
        switch code {
        case 301, 302, 303, 307, 308: true
        default: false
        }
    }
}
