internal import FoundationEssentials
internal import LinnetSerialization

/// The hooks of one request: its own and its session's. There is none where there are no hooks.
final class RequestHooks: Sendable {
    let context: HookContext
    private let session: TaskHooks?
    private let own: TaskHooks?

    init?(_ request: Request, id: UInt64?, session: TaskHooks?, own: TaskHooks?) {
        guard session != nil || own != nil else { return nil }
        context = HookContext(taskID: id ?? TaskID.next(), request: request)
        self.session = session
        self.own = own
    }

    /// Nil when nobody decides.
    func willRedirect(_ redirect: Redirect, _ request: Request) async throws(SessionError) -> RedirectDecision? {
        guard let hook = deciding(\.willRedirect) else { return nil }
        return try await run { try await hook(context, redirect, request) }
    }

    /// Nil when nobody decides.
    func didReceiveChallenge(
        _ attempt: AuthenticationAttempt
    ) async throws(SessionError) -> AuthenticationDecision? {
        guard let hook = deciding(\.didReceiveChallenge) else { return nil }
        return try await run { try await hook(context, attempt) }
    }

    func willRetry(
        _ attempt: RetryAttempt, _ decision: RetryDecision
    ) async throws(SessionError) -> RetryDecision {
        guard let hook = deciding(\.willRetry) else { return decision }
        return try await run { try await hook(context, attempt, decision) }
    }

    /// The request's hook, or else the session's.
    private func deciding<Hook>(_ hook: KeyPath<TaskHooks, Hook?>) -> Hook? {
        own?[keyPath: hook] ?? session?[keyPath: hook]
    }

    private func run<Value>(_ hook: () async throws -> Value) async throws(SessionError) -> Value {
        do {
            return try await hook()
        } catch {
            throw SessionError(thrownByHook: error, url: context.request.url)
        }
    }
}

extension SessionError {
    /// What a hook threw.
    init(thrownByHook error: any Error, url: URL?) {
        self.init(thrown: error, url: url)
        guard code == .interceptorFailed, !(error is SessionError) else { return }
        code = .hookFailed
        message = "A hook failed: \(error)"
    }
}
