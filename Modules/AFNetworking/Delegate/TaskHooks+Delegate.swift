internal import LinnetSecurity
public import LinnetSession

extension TaskHooks {
    /// Creates hooks that call a weakly held delegate.
    public init(delegate: any SessionDelegate) {
        self.init()
        willRedirect = { [weak delegate] context, redirect, request in
            try await delegate?.willRedirect(redirect, by: request, context)
        }
        didReceiveChallenge = { [weak delegate] context, attempt in
            try await delegate?.didReceiveChallenge(attempt, context) ?? .performDefault
        }
        willRetry = { [weak delegate] context, attempt, decision in
            try await delegate?.willRetry(attempt, decision, context) ?? decision
        }
        needsNewBody = { [weak delegate] context, request in
            try await delegate?.needsNewBody(for: request, context)
        }
        willPlaceDownload = { [weak delegate] context, file, head in
            try await delegate?.willPlaceDownload(file, head, context)
        }
        didSendBody = { [weak delegate] context, bytes, progress in delegate?.didSendBody(bytes, progress, context) }
        isWaitingForConnectivity = { [weak delegate] context in delegate?.isWaitingForConnectivity(context) }
        didReceiveInformational = { [weak delegate] context, head in delegate?.didReceiveInformational(head, context) }
        didWriteDownload = { [weak delegate] context, bytes, progress in
            delegate?.didWriteDownload(bytes, progress, context)
        }
        didResumeDownload = { [weak delegate] context, progress in
            delegate?.didResumeDownload(progress, context)
        }
        didFinishDownload = { [weak delegate] context, file in delegate?.didFinishDownload(file, context) }
        didCollectMetrics = { [weak delegate] context, metrics in delegate?.didCollectMetrics(metrics, context) }
        didComplete = { [weak delegate] context, error in delegate?.didComplete(error, context) }
        if let delegate = delegate as? any SessionDataDelegate { setDataHooks(delegate) }
    }

    private mutating func setDataHooks(_ delegate: any SessionDataDelegate) {
        didReceiveResponse = { [weak delegate] context, head in
            try await delegate?.didReceiveResponse(head, context) ?? .allow
        }
        willCacheResponse = { [weak delegate] context, head in
            try await delegate?.willCacheResponse(head, context) ?? .store
        }
        didReceiveData = { [weak delegate] context, data in try await delegate?.didReceiveData(data, context) }
    }
}

extension SessionHooks {
    /// Creates hooks that call a weakly held delegate.
    public init(delegate: any SessionDelegate) {
        self.init()
        if let delegate = delegate as? any SessionTrustDelegate {
            didReceiveServerTrust = { [weak delegate] trust, decision in
                await delegate?.didReceiveServerTrust(trust, decision) ?? decision
            }
        }
        didReceiveClientCertificateRequest = { [weak delegate] request, proposed in
            guard let delegate else { return proposed }
            return try await delegate.didReceiveClientCertificateRequest(request, proposed)
        }
        didBecomeInvalid = { [weak delegate] in delegate?.didBecomeInvalid() }
    }
}

extension HTTPSession.Configuration {
    /// Sets a delegate, which replaces `hooks` and `sessionHooks`. It is held weakly.
    public mutating func setDelegate(_ delegate: any SessionDelegate) {
        hooks = TaskHooks(delegate: delegate)
        sessionHooks = SessionHooks(delegate: delegate)
    }
}
