internal import FoundationEssentials
internal import LinnetAuthentication
internal import LinnetMessages
internal import LinnetReachability
internal import LinnetSerialization

/// A link of the chain: a decision of the session about a request on its way down, and about the outcome on its way up.
///
/// A link is a value that performs no I/O and never waits. Its functions return the next step for the engine to
/// perform. Only the engine knows of tasks, cancellation and the deadline, so a link is tested without them. A link
/// keeps its notes about a request in the ``Flight``. ``Chain`` lists the links in their order.
protocol ChainLink: Sendable {
    /// Whether the link can have work for a plain request, see ``Flight/isPlain``.
    var servesPlainRequests: Bool { get }

    /// Decides on a request that comes from the link above.
    func send(_ flight: inout Flight) throws(SessionError) -> ChainStep

    /// Decides on the request that this link sends again, after ``ChainStep/again(_:after:otherwise:)``.
    func sendAgain(_ flight: inout Flight) throws(SessionError) -> ChainStep

    /// Decides on the response that comes from the link below.
    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) throws(SessionError) -> ChainStep

    /// Decides on the failure from the link below.
    func receive(_ failure: inout SessionError, _ flight: inout Flight) throws(SessionError) -> ChainStep
}

extension ChainLink {
    var servesPlainRequests: Bool { true }

    func sendAgain(_ flight: inout Flight) throws(SessionError) -> ChainStep { .proceed }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) throws(SessionError) -> ChainStep {
        .proceed
    }

    func receive(_ failure: inout SessionError, _ flight: inout Flight) throws(SessionError) -> ChainStep { .proceed }
}

/// The next step after a link's decision. An error of a link ends the flight there, like ``end(_:)``.
indirect enum ChainStep: Sendable {
    /// The request, or its outcome, continues to the next link in its direction.
    case proceed
    /// This request goes down instead. The links above do not see the change.
    case change(to: SessionRequest)
    /// The outcome goes up from here.
    case end(Flight.Outcome)
    /// The body is read completely. Then the response, or the failure of its body, goes up.
    case read
    /// The question is answered in ``Flight/answer``, and the link decides again. The failure of a question goes up
    /// from here.
    case ask(ChainQuestion)
    /// The unused response is read to its end, the wait passes, and the request goes down once more from this link.
    case again(SessionRequest, after: Duration = .zero, otherwise: Otherwise)
    /// Another attempt is made after a wait, like ``again(_:after:otherwise:)``, if its body can be read and the budget
    /// allows it. Otherwise the outcome goes up.
    case retry(RetryPolicy.Attempt, after: Duration)

    /// The treatment of a request that should be sent again although its body cannot be read again.
    enum Otherwise: Sendable {
        /// It fails with ``SessionError/Code/requestBodyFailed``.
        case fail
        /// Its outcome goes up.
        case proceed
    }
}

/// A link's question to user code, a store, a file, or the network.
indirect enum ChainQuestion: Sendable {
    /// The request after the changes of these adapters.
    case adapted(by: [any RequestAdapter])
    /// The decision of these retriers, the policy, and the hook, on an attempt.
    case retry(RetryPolicy.Attempt, [any RequestRetrier], RetryPolicy)
    /// The hook's decision on a redirect.
    case redirect(HTTPRedirect, proposal: SessionRequest)
    /// The hook's decision on a challenge.
    case challenge(AuthenticationAttempt)
    /// The hash of the request's body.
    case bodyHash(DigestAlgorithm)
    /// The request with its signature.
    case signature(RequestSigner, RequestSigner.Request)
    /// A credential that is newer than a version.
    case renewal(any RenewableCredentialSource, after: UInt64)
    /// A wait for the network.
    case network(NetworkWatch, condition: @Sendable (ReachabilityStatus) -> Bool, limit: Duration?, isFirst: Bool)
    /// A wait until the origin may have another request.
    case permit(ConcurrencyLimiter, Origin)
    /// Work with the stored responses.
    case cache(CacheWork, CacheWork.Task)
}

extension ChainQuestion {
    /// The name of the step for instruments.
    var name: String {
        switch self {
        case .adapted: "adapt"
        case .retry: "decide on retry"
        case .redirect: "hook: redirect"
        case .challenge: "hook: challenge"
        case .bodyHash: "hash body"
        case .signature: "sign"
        case .renewal: "renew credential"
        case .network: "wait for network"
        case .permit: "wait for concurrency limit"
        case .cache: "cache"
        }
    }
}

/// The answer to a ``ChainQuestion`` of the same name.
indirect enum ChainAnswer: Sendable {
    case adapted(SessionRequest)
    case retry(RetryPolicy.Decision)
    case redirect(RedirectPolicy.Decision?)
    case challenge(AuthenticationAttempt.Decision?)
    case bodyHash(String?)
    case signed(SessionRequest)
    case renewed
    case network(NetworkWatch.Outcome)
    case permit(ConcurrencyPermit)
    case cache(CacheWork.Result)
}
