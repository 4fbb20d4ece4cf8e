internal import Foundation  // NotificationCenter
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetSession
internal import LinnetTransport
internal import Synchronization

/// The blocks of a manager. Each is called on the queue of the session.
struct SessionBlocks: Sendable {
    var didBecomeInvalid: (@Sendable (URLSession, (any Error)?) -> Void)?
    var willRedirect: (@Sendable (URLSession, URLSessionTask, URLResponse, URLRequest) -> URLRequest?)?
    var didSendBody: (@Sendable (URLSession, URLSessionTask, Int64, Int64, Int64) -> Void)?
    var didComplete: (@Sendable (URLSession, URLSessionTask, (any Error)?) -> Void)?
    var didCollectMetrics: (@Sendable (URLSession, URLSessionTask, [TransportMetrics]) -> Void)?
    var didReceiveResponse: (@Sendable (URLSession, URLSessionDataTask, URLResponse) -> URLSession.ResponseDisposition)?
    var didBecomeDownload: (@Sendable (URLSession, URLSessionDataTask, URLSessionDownloadTask) -> Void)?
    var didReceiveData: (@Sendable (URLSession, URLSessionDataTask, Data) -> Void)?
    var needsNewBody: (@Sendable (URLSession, URLSessionTask) -> HTTPRequestBody?)?
    var didReceiveChallenge: AFURLSessionManager.ChallengeHandler?
    var willCacheResponse: (@Sendable (URLSession, URLSessionDataTask, CachedURLResponse) -> CachedURLResponse?)?
    var didFinishDownloading: (@Sendable (URLSession, URLSessionDownloadTask, URL) -> URL?)?
    var didWriteData: (@Sendable (URLSession, URLSessionDownloadTask, Int64, Int64, Int64) -> Void)?
    var didFinishBackgroundEvents: (@Sendable (URLSession) -> Void)?
    var didResume: (@Sendable (URLSession, URLSessionDownloadTask, Int64, Int64) -> Void)?

    var isEmpty: Bool {
        didBecomeInvalid == nil && willRedirect == nil && didSendBody == nil && didComplete == nil
            && didCollectMetrics == nil && didReceiveResponse == nil && didBecomeDownload == nil
            && didReceiveData == nil && needsNewBody == nil && didReceiveChallenge == nil && willCacheResponse == nil
            && didFinishDownloading == nil && didWriteData == nil && didFinishBackgroundEvents == nil
            && didResume == nil
    }
}

/// The blocks of a manager, where the hooks of running tasks find them.
final class BlockTable: Sendable {
    private let blocks = Mutex(SessionBlocks())
    /// The queue of the session, on which all blocks are called.
    let queue: SessionQueue

    init(on queue: SessionQueue) { self.queue = queue }

    var current: SessionBlocks { blocks.withLock { $0 } }

    /// Whether nothing is called on the queue of the session, which the program has not suspended either.
    var isUnused: Bool { blocks.withLock { $0.isEmpty } && !queue.operations.isSuspended }

    func change(_ change: (inout SessionBlocks) -> Void) {
        let former = blocks.withLock { blocks in
            let former = blocks
            change(&blocks)
            return former
        }
        withExtendedLifetime(former) {}
    }

    /// Calls a block that decides on the queue of the session, and waits for its decision.
    private func decide<Decision: Sendable>(_ block: @escaping @Sendable () -> Decision) async -> Decision {
        await withCheckedContinuation { continuation in
            queue.execute { continuation.resume(returning: block()) }
        }
    }

    func sessionEnded(_ session: URLSession) {
        current.didBecomeInvalid?(session, nil)
        NotificationCenter.default.post(name: .AFURLSessionDidInvalidate, object: session)
    }

    /// The hooks of a task for the blocks that are set when it starts; nil if there are none. A block that replaces one
    /// of them later is called in its place. A block that is not set is not asked, and costs nothing.
    func hooks(
        of task: URLSessionTask, in session: URLSession,
        becoming makeDownload: @escaping @Sendable (URLSessionDataTask, HTTPURLResponse) -> BecomingDownload
    ) -> TaskHooks? {
        let set = current
        var hooks = TaskHooks()
        if set.willRedirect != nil {
            hooks.willRedirect = { [self, weak task] _, redirect, request in
                guard let block = current.willRedirect, let task else { return nil }
                let response = HTTPURLResponse(url: redirect.url, head: redirect.head)
                guard let next = await decide({ block(session, task, response, URLRequest(request)) }) else {
                    return .doNotFollow
                }
                return .follow(try next.made())
            }
        }
        if set.didSendBody != nil {
            hooks.didSendBody = { [self, weak task] _, bytes, progress in
                guard let task else { return }
                current.didSendBody?(session, task, Int64(bytes), progress.completed, progress.total ?? -1)
            }
        }
        if set.didCollectMetrics != nil {
            // The last hook, after which the hooks are released: the task may have no other owner by then.
            hooks.didCollectMetrics = { [self, task] _, metrics in current.didCollectMetrics?(session, task, metrics) }
        }
        if set.needsNewBody != nil {
            hooks.needsNewBody = { [self, weak task] _, _ in
                guard let block = current.needsNewBody, let task else { return nil }
                return await decide { block(session, task) }
            }
        }
        if set.didReceiveChallenge != nil {
            hooks.didReceiveChallenge = { [self, weak task] context, attempt in
                guard let handler = current.didReceiveChallenge, let task else { return .performDefault }
                let challenge = URLAuthenticationChallenge(attempt, context.request.url)
                return try await decision(of: handler, session, task, challenge)
            }
        }
        if let task = task as? URLSessionDataTask {
            setHooks(&hooks, of: task, in: session, set)
            if set.didReceiveResponse != nil { setResponseHooks(&hooks, of: task, in: session, set, makeDownload) }
        }
        if let task = task as? URLSessionDownloadTask {
            setDownloadHooks(&hooks, in: session, set) { [weak task] in task }
        }
        return hooks.isEmpty ? nil : hooks
    }

    private func setHooks(
        _ hooks: inout TaskHooks, of task: URLSessionDataTask, in session: URLSession, _ set: SessionBlocks
    ) {
        if set.willCacheResponse != nil {
            hooks.willCacheResponse = { [self, weak task] context, head in
                guard let block = current.willCacheResponse, let task else { return .store }
                let response = HTTPURLResponse(url: context.request.url, head: head)
                let proposed = CachedURLResponse(response: response, data: nil)
                guard let stored = await decide({ block(session, task, proposed) }) else { return .doNotStore }
                return stored === proposed ? .store : .storeAs(stored.response.head, body: stored.data)
            }
        }
        if set.didReceiveData != nil {
            hooks.didReceiveData = { [self, weak task] _, data in
                guard let block = current.didReceiveData, let task else { return }
                await decide { block(session, task, data) }
            }
        }
    }

    /// The hooks for a response that the block may turn into a download.
    private func setResponseHooks(
        _ hooks: inout TaskHooks, of task: URLSessionDataTask, in session: URLSession, _ set: SessionBlocks,
        _ makeDownload: @escaping @Sendable (URLSessionDataTask, HTTPURLResponse) -> BecomingDownload
    ) {
        hooks.didReceiveResponse = { [self, weak task] context, head in
            guard let block = current.didReceiveResponse, let task else { return .allow }
            let response = HTTPURLResponse(url: context.request.url, head: head)
            switch await decide({ block(session, task, response) }) {
            case .allow: return .allow
            case .cancel: return .cancel
            case .becomeDownload:
                let download = makeDownload(task, response)
                if let block = current.didBecomeDownload {
                    await decide { block(session, task, download.task) }
                }
                return .becomeDownload(to: download.file, options: download.options)
            }
        }
        setDownloadHooks(&hooks, in: session, set) { [weak task] in task?.download }
        hooks.didFinishDownload = { [weak task] _, file in task?.take(file: file) }
    }

    private func setDownloadHooks(
        _ hooks: inout TaskHooks, in session: URLSession, _ set: SessionBlocks,
        _ task: @escaping @Sendable () -> URLSessionDownloadTask?
    ) {
        if set.didFinishDownloading != nil {
            hooks.willPlaceDownload = { [self] _, file, _ in
                guard let block = current.didFinishDownloading, let task = task() else { return nil }
                return await decide { block(session, task, file) }
            }
        }
        if set.didWriteData != nil {
            hooks.didWriteDownload = { [self] _, bytes, progress in
                guard let task = task() else { return }
                current.didWriteData?(session, task, Int64(bytes), progress.completed, progress.total ?? -1)
            }
        }
        if set.didResume != nil {
            hooks.didResumeDownload = { [self] _, progress in
                if let task = task() { current.didResume?(session, task, progress.completed, progress.total ?? -1) }
            }
        }
    }
}

extension BlockTable {
    /// A handler's decision on a challenge: at once, or when it calls the function that it was given. A handler that
    /// returns nil and releases the function cancels.
    fileprivate func decision(
        of handler: @escaping AFURLSessionManager.ChallengeHandler, _ session: URLSession, _ task: URLSessionTask,
        _ challenge: URLAuthenticationChallenge
    ) async throws -> AuthenticationAttempt.Decision {
        let (answer, later) = await decide { Self.ask(handler, of: task, in: session, about: challenge) }
        switch answer.value {
        case nil:
            let (disposition, credential) = await later.first { _ in true } ?? (.cancelAuthenticationChallenge, nil)
            return try AuthenticationAttempt.Decision(disposition, credential)
        case let credential as URLCredential: return try AuthenticationAttempt.Decision(.useCredential, credential)
        case let disposition as URLSession.AuthChallengeDisposition:
            return try AuthenticationAttempt.Decision(disposition, nil)
        case let number as NSNumber:
            let disposition = URLSession.AuthChallengeDisposition(rawValue: number.intValue)
            return try AuthenticationAttempt.Decision(disposition ?? .cancelAuthenticationChallenge, nil)
        case let error as any Error: throw error
        default: return .cancel
        }
    }

    private static func ask(
        _ handler: AFURLSessionManager.ChallengeHandler, of task: URLSessionTask, in session: URLSession,
        about challenge: URLAuthenticationChallenge
    ) -> (UncheckedBox<Any?>, AsyncStream<LaterAnswer.Answer>) {
        let (answers, continuation) = AsyncStream.makeStream(of: LaterAnswer.Answer.self)
        let later = LaterAnswer(continuation)
        return (UncheckedBox(handler(session, task, challenge, { later.give($0, $1) })), answers)
    }
}

/// The answer to a challenge that is given later, once. Releasing it without an answer ends the wait.
private final class LaterAnswer: Sendable {
    typealias Answer = (URLSession.AuthChallengeDisposition, URLCredential?)

    private let continuation: AsyncStream<Answer>.Continuation

    init(_ continuation: AsyncStream<Answer>.Continuation) { self.continuation = continuation }

    deinit { continuation.finish() }

    func give(_ disposition: URLSession.AuthChallengeDisposition, _ credential: URLCredential?) {
        continuation.yield((disposition, credential))
        continuation.finish()
    }
}
