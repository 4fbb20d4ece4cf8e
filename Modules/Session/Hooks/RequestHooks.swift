internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

/// The hooks of one request: its session's and its own. It is only created if there are hooks.
final class RequestHooks: Sendable {
    let context: TaskHooks.Context
    private let tables: [TaskHooks]
    private let executor: CallbackExecutor
    private let hasCompleted = Atomic(false)

    init(_ context: TaskHooks.Context, tables: [TaskHooks], executor: CallbackExecutor) {
        self.context = context
        self.tables = tables
        self.executor = executor
    }

    // MARK: Hooks that decide; nil if there is no hook

    func willRedirect(_ redirect: HTTPRedirect, _ request: SessionRequest) async throws(SessionError)
        -> RedirectPolicy.Decision?
    {
        guard let hook = deciding(\.willRedirect) else { return nil }
        return try await run { [context] in try await hook(context, redirect, request) }
    }

    func didReceiveChallenge(
        _ attempt: AuthenticationAttempt
    ) async throws(SessionError) -> AuthenticationAttempt.Decision? {
        guard let hook = deciding(\.didReceiveChallenge) else { return nil }
        return try await run { [context] in try await hook(context, attempt) }
    }

    func willRetry(
        _ attempt: RetryPolicy.Attempt, _ decision: RetryPolicy.Decision
    ) async throws(SessionError) -> RetryPolicy.Decision {
        guard let hook = deciding(\.willRetry) else { return decision }
        return try await run { [context] in try await hook(context, attempt, decision) }
    }

    func newBody(for request: SessionRequest) async throws(SessionError) -> HTTPRequestBody? {
        guard let hook = deciding(\.needsNewBody) else { return nil }
        return try await run { [context] in try await hook(context, request) }
    }

    func didReceiveResponse(_ head: HTTPResponse) async throws(SessionError) -> TaskHooks.ResponseDisposition? {
        guard let hook = deciding(\.didReceiveResponse) else { return nil }
        return try await run { [context] in try await hook(context, head) }
    }

    func stream(
        _ response: StreamedResponse, to reader: @escaping @Sendable (StreamedResponse) async throws -> Void
    ) async throws(SessionError) {
        try await run { try await reader(response.reporting()) }
    }

    func willCacheResponse(_ head: HTTPResponse) async throws(SessionError) -> TaskHooks.CachingDecision {
        guard let hook = deciding(\.willCacheResponse) else { return .store }
        return try await run { [context] in try await hook(context, head) }
    }

    func didReceiveData(_ data: Data) async throws(SessionError) {
        guard let hook = deciding(\.didReceiveData) else { return }
        try await run { [context] in try await hook(context, data) }
    }

    func willPlaceDownload(_ file: URL, _ head: HTTPResponse) async throws(SessionError) -> URL? {
        guard let hook = deciding(\.willPlaceDownload) else { return nil }
        return try await run(on: FileExecutor.shared) { [context] in try await hook(context, file, head) }
    }

    // MARK: Hooks that observe

    func isSeen<Hook>(_ hook: KeyPath<TaskHooks, Hook?>) -> Bool {
        tables.contains { $0[keyPath: hook] != nil }
    }

    /// Calls the hooks of all tables on the callback executor.
    func tell(_ call: @escaping @Sendable (TaskHooks, TaskHooks.Context) -> Void) {
        executor.execute { [tables, context] in
            for table in tables { call(table, context) }
        }
    }

    func didFinishDownload(_ file: URL) {
        if isSeen(\.didFinishDownload) { tell { $0.didFinishDownload?($1, file) } }
    }

    func isWaitingForConnectivity() {
        if isSeen(\.isWaitingForConnectivity) { tell { $0.isWaitingForConnectivity?($1) } }
    }

    /// Reports the end of the request. Only the first call has an effect.
    func complete(_ error: SessionError?, _ metrics: [TransportMetrics]) {
        guard !hasCompleted.exchange(true, ordering: .acquiringAndReleasing) else { return }
        guard isSeen(\.didCollectMetrics) || isSeen(\.didComplete) else { return }
        tell { $0.didCollectMetrics?($1, metrics) }
        tell { $0.didComplete?($1, error) }
    }

    // MARK: Requirements of the hooks

    /// Whether the response must be returned through the chain before its body is read.
    var readsResponses: Bool { isSeen(\.didReceiveResponse) || isSeen(\.didReceiveData) }

    /// Returns the body, with each chunk passed to the data hook before its reader.
    func watching(_ body: HTTPResponseBody, until deadline: Tick?, _ url: URL) -> HTTPResponseBody {
        guard isSeen(\.didReceiveData) else { return body }
        return HTTPResponseBody(WatchedBody(base: body, hooks: self, deadline: deadline, url: url))
    }

    /// Returns an observer that reports to the hooks and to the request's own observer; for a download, also the
    /// written bytes.
    func observing(_ base: (any TransferObserver)?, isDownload: Bool = false) -> (any TransferObserver)? {
        if base is HookObserver { return base }
        guard
            isSeen(\.didResumeDownload) || isSeen(\.didSendBody) || isSeen(\.didReceiveInformational)
                || isSeen(\.didWriteDownload)
        else {
            return base
        }
        return HookObserver(hooks: self, base: base, isDownload: isDownload)
    }

    /// Returns the request's hook, or else the session's.
    private func deciding<Hook>(_ hook: KeyPath<TaskHooks, Hook?>) -> Hook? {
        for table in tables.reversed() {
            if let hook = table[keyPath: hook] { return hook }
        }
        return nil
    }

    private func run<Value: Sendable>(
        on executor: FileExecutor? = nil, _ hook: @escaping @Sendable () async throws -> Value
    ) async throws(SessionError) -> Value {
        do {
            return try await untilCancelled(on: executor, hook)
        } catch {
            throw SessionError(thrownByHook: error, url: context.request.url)
        }
    }
}

extension SessionError {
    /// Creates the session error for an error that a hook threw.
    init(thrownByHook error: any Error, url: URL?) {
        self.init(thrown: error, url: url)
        guard code == .interceptorFailed, !(error is SessionError) else { return }
        code = .hookFailed
        message = "A hook failed: \(Self.cause(error))"
    }
}
