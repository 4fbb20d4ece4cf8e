public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization
public import LinnetTransport

/// Functions that a session calls on the way of a request, each optional: for all of a session's requests in
/// ``Session/Configuration/hooks``, for one request or handle where it is made.
///
/// ```swift
/// let session = try Session {
///     $0.hooks.willRedirect = { context, redirect, request in
///         redirect.target.host() == "example.com" ? .follow(request) : .doNotFollow
///     }
/// }
/// ```
/// A hook that decides is called in the task of its request, which waits for it; of a request's and the session's, the
/// request's is called alone. What it throws fails its own request: a ``SessionError`` as it is, a `CancellationError` as
/// ``SessionError/Code/cancelled``, anything else as ``SessionError/Code/hookFailed`` with the error below it.
///
/// A hook that only sees is called on the session's callback executor, in the order in which things happened, and holds up
/// nothing; of a request's and the session's, both are called, the session's first. Hooks that are not set cost nothing.
public struct TaskHooks: Sendable {
    // MARK: They decide

    /// Decides on a redirect before it is followed: the request is the one that RFC 9110, section 15.4, leads to, already
    /// without the credentials of another origin. Redirects that the policy refuses are not asked about, and a request that
    /// the hook makes is held to the policy too. With ``RedirectPolicy/doNotFollow`` the hook alone decides.
    public var willRedirect: (@Sendable (HookContext, Redirect, Request) async throws -> RedirectDecision)?
    /// Answers a 401 (RFC 9110, section 15.5.2): with the stored credential that is proposed, with another, or not at all.
    /// It is asked again after each credential that was refused, a few times at most.
    public var didReceiveChallenge:
        (@Sendable (HookContext, AuthenticationAttempt) async throws -> AuthenticationDecision)?
    /// Has the last word on whether an attempt is made again: what the retriers and the policy decided comes with it. Not
    /// asked when the request was cancelled, or its time is over.
    public var willRetry: (@Sendable (HookContext, RetryAttempt, RetryDecision) async throws -> RetryDecision)?
    /// Gives a request that has to be sent again a body in the place of the one that can be read only once; nil for none,
    /// which fails the request with ``SessionError/Code/requestBodyFailed``. Not asked for a body that can be replayed.
    public var needsNewBody: (@Sendable (HookContext, Request) async throws -> HTTPBody?)?
    /// Decides on the final response before its body is read. Redirects that were followed, answered challenges and
    /// responses that were retried are not final.
    public var didReceiveResponse: (@Sendable (HookContext, HTTPResponse) async throws -> ResponseDisposition)?
    /// Sees each piece of the final response's body before anybody else; the next is not read before it returns.
    public var didReceiveData: (@Sendable (HookContext, Data) async throws -> Void)?
    /// Says where a complete download goes that was found acceptable, from the file that it is in until then, which may be
    /// read but must stay there, and its response; nil for where its request says. The download's options hold there too.
    /// Asked of every download, also one that a response became, on a thread for files.
    public var willPlaceDownload: (@Sendable (HookContext, URL, HTTPResponse) async throws -> URL?)?

    // MARK: They see

    /// The socket took so many more bytes of the request's body. Each attempt begins anew.
    public var didSendBody: (@Sendable (HookContext, Int, TransferProgress) -> Void)?
    /// An informational response came (1xx, RFC 9110, section 15.2).
    public var didReceiveInformational: (@Sendable (HookContext, HTTPResponse) -> Void)?
    /// So many more bytes of a download are in its file.
    public var didWriteDownload: (@Sendable (HookContext, Int, TransferProgress) -> Void)?
    /// A download goes on from a part: so many bytes of it are there already.
    public var didResumeDownload: (@Sendable (HookContext, TransferProgress) -> Void)?
    /// A download is complete, and is where it was to go.
    public var didFinishDownload: (@Sendable (HookContext, URL) -> Void)?
    /// The request is over, and this is what its attempts cost, in order.
    public var didCollectMetrics: (@Sendable (HookContext, [TransportMetrics]) -> Void)?
    /// The request is over: with its error, or nil when it went well. Called exactly once, after all others, and before
    /// ``SessionHooks/didBecomeInvalid``, unless the request was made after the session's shutdown.
    public var didComplete: (@Sendable (HookContext, SessionError?) -> Void)?

    /// No hooks.
    public init() {}

    /// Hooks that a function sets.
    public init(_ configure: (inout TaskHooks) throws -> Void) rethrows {
        try configure(&self)
    }

    var isEmpty: Bool { !decides && !sees }

    private var decides: Bool {
        willRedirect != nil || didReceiveChallenge != nil || willRetry != nil || needsNewBody != nil
            || didReceiveResponse != nil || didReceiveData != nil || willPlaceDownload != nil
    }

    private var sees: Bool {
        didSendBody != nil || didReceiveInformational != nil || didWriteDownload != nil || didResumeDownload != nil
            || didFinishDownload != nil
            || didCollectMetrics != nil || didComplete != nil
    }
}
