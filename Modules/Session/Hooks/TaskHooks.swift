public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization
public import LinnetTransport

/// Optional functions that a session calls while it processes a request. Set them for all requests of a session in
/// ``HTTPSession/Configuration/hooks``, or for a single request or handle when you create it.
///
/// ```swift
/// let session = try HTTPSession {
///     $0.hooks.willRedirect = { context, redirect, request in
///         redirect.target.host() == "example.com" ? .follow(request) : .doNotFollow
///     }
/// }
/// ```
/// A hook that makes a decision is called in the task of its request, which waits for it. If both the request and the
/// session set it, only the request's is called. An error that it throws fails its request: a ``SessionError`` is
/// unchanged, a `CancellationError` becomes ``SessionError/Code/cancelled``, and any other error becomes the underlying
/// error of ``SessionError/Code/hookFailed``.
///
/// A hook that only observes is called on the session's callback executor, in the order of events, and does not delay
/// the request. If both the session and the request set it, both are called, the session's first. Hooks that are not
/// set have no cost.
public struct TaskHooks: Sendable {
    // MARK: Hooks that decide

    /// Decides on a redirect before it is followed. Its request follows RFC 9110, section 15.4, and lacks the
    /// credentials of another origin. The hook is not called for redirects that the policy refuses, and the policy also
    /// applies to the hook's request. Nil leaves the decision to the policy; with ``RedirectPolicy/doNotFollow`` only
    /// the hook follows redirects.
    public var willRedirect:
        (@Sendable (Context, HTTPRedirect, SessionRequest) async throws -> RedirectPolicy.Decision?)?
    /// Decides how to respond to a 401 (RFC 9110, section 15.5.2): with the proposed stored credential, with another
    /// one, or not at all. It is called again after each refused credential, a limited number of times.
    public var didReceiveChallenge:
        (@Sendable (Context, AuthenticationAttempt) async throws -> AuthenticationAttempt.Decision)?
    /// Makes the final decision on whether to retry, given the decision of the retriers and the policy. Called for
    /// failures, as ``RequestRetrier`` lists them, and for responses that a retrier or the policy would retry. Not
    /// called if the request was cancelled or exceeded its timeout for the whole request.
    public var willRetry:
        (@Sendable (Context, RetryPolicy.Attempt, RetryPolicy.Decision) async throws -> RetryPolicy.Decision)?
    /// Returns a new body when a request must be sent again and its body can be read only once. Nil fails the request
    /// with ``SessionError/Code/requestBodyFailed``. Not called for a body that can be replayed.
    public var needsNewBody: (@Sendable (Context, SessionRequest) async throws -> HTTPRequestBody?)?
    /// Decides on the final response before its body is read. Followed redirects, answered challenges and retried
    /// responses are not final.
    public var didReceiveResponse: (@Sendable (Context, HTTPResponse) async throws -> ResponseDisposition)?
    /// Decides whether and how a response of the network is stored, given its head, if the rules of HTTP allow storing
    /// it. Called for redirects and challenges as well, but not when a stored response is updated. Without the hook,
    /// the response is stored unchanged.
    public var willCacheResponse: (@Sendable (Context, HTTPResponse) async throws -> CachingDecision)?
    /// Receives each chunk of the final response's body before its reader. The next chunk is not read until the hook
    /// returns.
    public var didReceiveData: (@Sendable (Context, Data) async throws -> Void)?
    /// Chooses the destination of a complete, valid download, given its response and its temporary file, which may be
    /// read but not moved. Nil selects the request's destination. The download's options apply to both. Called for
    /// every download, including a response that a hook turned into one, on a thread of the executor for files.
    public var willPlaceDownload: (@Sendable (Context, URL, HTTPResponse) async throws -> URL?)?

    // MARK: Hooks that observe

    /// Called when the socket accepted the given number of bytes of the request's body. Each attempt starts again from
    /// zero.
    public var didSendBody: (@Sendable (Context, Int, TransferProgress) -> Void)?
    /// Called when the request begins to wait for the network, at most once for an attempt; see
    /// ``HTTPSession/Configuration/waitsForConnectivity``.
    public var isWaitingForConnectivity: (@Sendable (Context) -> Void)?
    /// Called for an informational response (1xx, RFC 9110, section 15.2).
    public var didReceiveInformational: (@Sendable (Context, HTTPResponse) -> Void)?
    /// Called when the given number of bytes were written to a download's file.
    public var didWriteDownload: (@Sendable (Context, Int, TransferProgress) -> Void)?
    /// Called when a download resumes from a part, with the progress that includes the part's bytes.
    public var didResumeDownload: (@Sendable (Context, TransferProgress) -> Void)?
    /// Called when a download is complete and at its destination.
    public var didFinishDownload: (@Sendable (Context, URL) -> Void)?
    /// Called when the request has ended, with the metrics of its attempts, in order.
    public var didCollectMetrics: (@Sendable (Context, [TransportMetrics]) -> Void)?
    /// Called when the request has ended, with its error, or nil on success. Called exactly once, after all other
    /// hooks, and before ``SessionHooks/didBecomeInvalid``, unless the request was made after the session's shutdown.
    public var didComplete: (@Sendable (Context, SessionError?) -> Void)?

    /// Creates a value without hooks.
    public init() {}

    /// Creates a value, and sets its hooks by a function.
    public init(_ configure: (inout TaskHooks) throws -> Void) rethrows {
        try configure(&self)
    }

    package var isEmpty: Bool { !decides && !sees }

    private var decides: Bool {
        willRedirect != nil || didReceiveChallenge != nil || willRetry != nil || needsNewBody != nil
            || didReceiveResponse != nil || willCacheResponse != nil || didReceiveData != nil
            || willPlaceDownload != nil
    }

    private var sees: Bool {
        didSendBody != nil || didReceiveInformational != nil || didWriteDownload != nil || didResumeDownload != nil
            || didFinishDownload != nil
            || didCollectMetrics != nil || didComplete != nil || isWaitingForConnectivity != nil
    }
}

extension TaskHooks {
    /// The request for which a hook is called.
    public struct Context: Sendable {
        /// The request's ID, equal to ``TaskEvent/taskID`` and to a handle's `id`.
        public let taskID: UInt64
        /// The kind of request.
        public let kind: TaskKind
        /// The original request.
        public let request: SessionRequest
    }
}

extension TaskHooks {
    /// A hook's decision on a response that can be stored. The body is stored while the caller reads it.
    public enum CachingDecision: Sendable {
        /// Store the response unchanged.
        case store
        /// Store another head, for example with another Cache-Control or fewer fields. The rules of HTTP apply to it as
        /// if the server had sent it. The caller gets the original response. A body that is not nil replaces the
        /// response's body in the store, in the content coding named in the head; its length becomes the
        /// Content-Length.
        case storeAs(HTTPResponse, body: Data? = nil)
        /// Do not store the response.
        case doNotStore
    }
}

extension TaskHooks {
    /// A hook's decision on a response with an unread body.
    public enum ResponseDisposition: Sendable {
        /// Read the body.
        case allow
        /// Stop reading: the request fails with ``SessionError/Code/cancelled``; the error has the response's head.
        case cancel
        /// Write the body to a file, as ``HTTPCall/download(to:resuming:options:)`` does;
        /// ``TaskHooks/didFinishDownload`` is called at its end. The request then has no value, and ends with
        /// ``SessionError/Code/takenByHook``.
        case becomeDownload(to: URL, options: DownloadOptions = DownloadOptions())
        /// Pass the response to a function that reads its body as it arrives. The request waits for the function, has
        /// no value, and ends with ``SessionError/Code/takenByHook``.
        case becomeStream(@Sendable (StreamedResponse) async throws -> Void)
    }
}
