internal import HTTPTypes
internal import LinnetTransport
internal import Synchronization

/// Reports a request's transfer to its hooks, and forwards everything to the request's own observer.
final class HookObserver: TransferObserver {
    private struct State {
        var sent = TransferProgress()
        var written = TransferProgress()
    }

    private let hooks: RequestHooks
    private let base: (any TransferObserver)?
    private let isDownload: Bool
    private let state = Mutex(State())

    init(hooks: RequestHooks, base: (any TransferObserver)?, isDownload: Bool) {
        self.hooks = hooks
        self.base = base
        self.isDownload = isDownload
    }

    var taskID: UInt64 { hooks.context.taskID }

    func willSendBody(length: Int64?) {
        state.withLock { $0.sent = TransferProgress(total: length) }
        base?.willSendBody(length: length)
    }

    func didSendBody(bytes: Int) {
        base?.didSendBody(bytes: bytes)
        let progress = state.withLock { state in
            state.sent.completed += Int64(bytes)
            return state.sent
        }
        if hooks.isSeen(\.didSendBody) { hooks.tell { $0.didSendBody?($1, bytes, progress) } }
    }

    func willReceiveBody(length: Int64?) {
        state.withLock { $0.written = TransferProgress(total: length) }
        base?.willReceiveBody(length: length)
    }

    func willReceiveBody(length: Int64?, from offset: Int64) {
        let progress = TransferProgress(completed: offset, total: length)
        state.withLock { $0.written = progress }
        base?.willReceiveBody(length: length, from: offset)
        if isDownload, hooks.isSeen(\.didResumeDownload) { hooks.tell { $0.didResumeDownload?($1, progress) } }
    }

    func didReceiveBody(bytes: Int) {
        base?.didReceiveBody(bytes: bytes)
        guard isDownload, hooks.isSeen(\.didWriteDownload) else { return }
        let progress = state.withLock { state in
            state.written.completed += Int64(bytes)
            return state.written
        }
        hooks.tell { $0.didWriteDownload?($1, bytes, progress) }
    }

    func didReceiveInformational(_ head: HTTPResponse) {
        base?.didReceiveInformational(head)
        if hooks.isSeen(\.didReceiveInformational) { hooks.tell { $0.didReceiveInformational?($1, head) } }
    }

    func didFinishAttempt(_ metrics: TransportMetrics) {
        // The transport can send the request again without calling `willSendBody(length:)`.
        state.withLock { $0.sent.completed = 0 }
        base?.didFinishAttempt(metrics)
    }

    func didFinishHedge(_ metrics: TransportMetrics) {
        base?.didFinishHedge(metrics)
    }

    func willWait(_ place: WaitingPlace) {
        base?.willWait(place)
    }
}
