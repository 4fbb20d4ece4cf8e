internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetAuthentication
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

/// Responds to 401 (RFC 9110, section 11). The links above never see its credentials, which are for one origin.
struct AuthenticationLink: ChainLink {
    /// The maximum number of attempts to authenticate one request.
    private static let attemptLimit = 8

    let store: CredentialStore?

    var servesPlainRequests: Bool { store != nil }

    func send(_ flight: inout Flight) throws(SessionError) -> ChainStep {
        if case .bodyHash? = flight.answer { return sendAnswer(isPreemptive: true, &flight) }
        // The note of an earlier attempt or hop is about another request.
        flight.authentication = nil
        guard store != nil || flight.hooks != nil else { return .proceed }
        let target = try flight.target()
        var note = Note(target: target)
        note.isOwn = flight.request.headerFields.contains(.authorization) || target.userInfo != nil
        // A 401 then refuses its own credentials first.
        if note.isOwn { note.failures = 1 }
        if !note.isOwn, let known = store?.authenticator(before: target), known.canAnswer(flight.request) {
            note.next = known
        }
        flight.authentication = Boxed(note)
        return sendAnswer(isPreemptive: true, &flight)
    }

    func sendAgain(_ flight: inout Flight) -> ChainStep { sendAnswer(isPreemptive: false, &flight) }

    /// Sends the request with the answer of the next authenticator, if there is one.
    private func sendAnswer(isPreemptive: Bool, _ flight: inout Flight) -> ChainStep {
        guard let next = flight.authentication?.value.next else { return .proceed }
        guard let algorithm = next.bodyAlgorithm else {
            return answer(by: next, nil, isPreemptive: isPreemptive, &flight)
        }
        guard case .bodyHash(let hash) = flight.takeAnswer() else { return .ask(.bodyHash(algorithm)) }
        return answer(by: next, hash, isPreemptive: isPreemptive, &flight)
    }

    private func answer(
        by authenticator: ChallengeResponder, _ bodyHash: String?, isPreemptive: Bool,
        _ flight: inout Flight
    ) -> ChainStep {
        guard var note = flight.authentication?.value else { return .proceed }
        let answer = authenticator.answer(
            method: flight.request.method.rawValue, uri: note.target.path, bodyHash: bodyHash)
        note.last = Note.Sent(authenticator: authenticator, answer: answer, isPreemptive: isPreemptive)
        note.next = nil
        flight.authentication = Boxed(note)
        var authorized = flight.request
        authorized.headerFields[isoLatin1: .authorization] = answer.value
        return .change(to: authorized)
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) throws(SessionError) -> ChainStep {
        guard let note = flight.authentication?.value else { return .proceed }
        guard response.head.status == .unauthorized else {
            if let last = note.last { try accept(last, by: response, note.target) }
            return .proceed
        }
        return try step(after: response, note, &flight)
    }

    /// Verifies the proof of a server that has accepted an answer (RFC 7616, section 3.5).
    private func accept(
        _ sent: Note.Sent, by response: StreamedResponse, _ target: RequestTarget
    ) throws(SessionError) {
        do {
            try sent.answer.verify(response.head.headerFields.isoLatin1Values(of: .authenticationInfo))
        } catch {
            throw SessionError(error, url: response.url).adding(response)
        }
        if !sent.isPreemptive { store?.accepted(sent.authenticator, at: target) }
    }

    /// Answers the challenges of a 401, if there is an answer left.
    private func step(
        after response: StreamedResponse, _ current: Note, _ flight: inout Flight
    ) throws(SessionError) -> ChainStep {
        var note = current
        let challenges = AuthenticationChallenge.parse(
            isoLatin1: response.head.headerFields.isoLatin1Values(of: .wwwAuthenticate))
        if case .challenge(let decision) = flight.takeAnswer() {
            note.next = try authenticator(decision, for: challenges, of: response, note)
        } else {
            if let answer = note.last?.answer { store?.refused(answer, at: note.target) }
            note.next = note.renewed(by: challenges)
            if note.next == nil {
                if let refused = note.countRefusal(by: challenges) { store?.refused(refused, at: note.target) }
                // A hook could propose another credential each time.
                guard note.failures < Self.attemptLimit else { return keep(note, &flight) }
                if !note.isOwn {
                    note.next = store?.authenticator(for: challenges, of: note.target.origin, refused: note.refused)
                }
                if let hooks = flight.hooks, hooks.isSeen(\.didReceiveChallenge) {
                    flight.authentication = Boxed(note)
                    return .ask(
                        .challenge(
                            AuthenticationAttempt(
                                origin: note.target.origin, challenges: challenges, head: response.head,
                                failures: note.failures, proposedCredential: note.next?.credential)))
                }
            }
        }
        guard note.next != nil else { return keep(note, &flight) }
        flight.authentication = Boxed(note)
        return .again(flight.request, otherwise: .fail)
    }

    private func keep(_ note: Note, _ flight: inout Flight) -> ChainStep {
        flight.authentication = Boxed(note)
        return .proceed
    }

    /// The authenticator that a hook has decided on.
    private func authenticator(
        _ decision: AuthenticationAttempt.Decision?, for challenges: [AuthenticationChallenge],
        of response: StreamedResponse, _ note: Note
    ) throws(SessionError) -> ChallengeResponder? {
        switch decision {
        case nil, .performDefault: return note.next
        case .use(let credential):
            guard !note.refused.contains(credential) else { return nil }
            // A token or a Basic credential is sent whatever the challenges are, but a password can only answer one.
            return ChallengeResponder(withoutChallenge: credential)
                ?? ChallengeResponder(
                    credential, for: challenges, allowsBasic: note.target.origin.isSecure)
        case .reject: return nil
        case .cancel:
            throw SessionError(
                .authenticationCancelled, "A hook cancelled the authentication.", url: response.url
            ).adding(response)
        }
    }
}

extension AuthenticationLink {
    /// The state of one request's authentication.
    struct Note: Sendable {
        /// An answer that was sent.
        struct Sent: Sendable {
            let authenticator: ChallengeResponder
            let answer: AuthenticationAnswer
            /// Whether it was sent before any challenge.
            let isPreemptive: Bool
        }

        /// The number of repetitions of a request because of a stale nonce.
        private static let renewalLimit = 3

        let target: RequestTarget
        /// Whether the request has its own credentials, which the store's do not replace.
        var isOwn = false
        var failures = 0
        private(set) var refused: Set<Credential> = []
        var last: Sent?
        /// The authenticator whose answer is sent next.
        var next: ChallengeResponder?
        private var renewals = 0

        init(target: RequestTarget) {
            self.target = target
        }

        /// The last answer's authenticator with a new nonce, if only its nonce was wrong.
        fileprivate mutating func renewed(by challenges: [AuthenticationChallenge]) -> LinnetAuthentication
            .ChallengeResponder?
        {
            // A server could call every nonce stale.
            guard renewals < Self.renewalLimit, let last,
                let renewed = last.authenticator.renewed(by: challenges, after: last.answer)
            else { return nil }
            renewals += 1
            return renewed
        }

        /// Counts the last answer as refused, and returns its credential; nil if none was refused.
        fileprivate mutating func countRefusal(by challenges: [AuthenticationChallenge]) -> Credential? {
            guard let sent = last else { return nil }
            last = nil
            // The nonce of an earlier response may have expired, or belong to another realm, and not all servers say
            // so. A password that was sent by Basic for another path may be right for the Digest of this one.
            let isOfAnotherQuestion =
                sent.authenticator.isDigest
                || sent.authenticator.credential.scheme == "digest" && challenges.contains { $0.scheme == "digest" }
            guard !sent.isPreemptive || !isOfAnotherQuestion else { return nil }
            failures += 1
            refused.insert(sent.authenticator.credential)
            return sent.authenticator.credential
        }
    }
}

extension ChallengeResponder {
    /// Whether it can answer before the request is sent: for auth-int, the body must be read first.
    fileprivate func canAnswer(_ request: SessionRequest) -> Bool {
        bodyAlgorithm == nil || request.body?.isReplayable ?? true
    }
}
