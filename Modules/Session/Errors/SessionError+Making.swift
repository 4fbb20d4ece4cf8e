internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport

extension SessionError {
    /// Creates the session error for an error that an interceptor or the transport threw.
    init(thrown error: any Error, url: URL?) {
        switch error {
        case let error as SessionError: self = error
        case let error as TransportError: self.init(error, url: url)
        case let error as SerializationError: self.init(error, url: url)
        case is CancellationError: self = .cancelled(url)
        default: self.init(.interceptorFailed, "An interceptor failed: \(error)", underlying: error, url: url)
        }
    }

    /// Creates the session error for a file failure.
    init(_ failure: FileFailure, url: URL?) {
        self.init(.fileFailed, "\(failure)", underlying: failure, url: url)
        fileFailure = failure
    }

    static func cancelled(_ url: URL?) -> SessionError {
        SessionError(.cancelled, "The request was cancelled.", url: url)
    }

    static func shutDown(_ url: URL?) -> SessionError {
        SessionError(.shutDown, "The session was shut down.", url: url)
    }

    static func invalidURL(_ message: String, _ url: URL?) -> SessionError {
        SessionError(.invalidURL, message, url: url)
    }

    static func timedOut(_ timeout: Timeout, _ url: URL?) -> SessionError {
        var error = SessionError(.timeout, "The request took longer than its timeout.", url: url)
        error.timeout = timeout
        return error
    }

    /// Returns the error with the response's URL, head, metrics and redirects, for those that it does not have.
    func adding(_ response: StreamedResponse) -> SessionError {
        var error = self
        error.url = error.url ?? response.url.withoutUserInfo
        error.head = error.head ?? response.head
        if error.metrics.isEmpty { error.metrics = response.attempts }
        if error.redirects.isEmpty { error.redirects = response.redirects }
        return error
    }

    /// Returns the error with the metrics of the attempts, if it has none.
    func adding(metrics: [TransportMetrics]) -> SessionError {
        guard self.metrics.isEmpty, !metrics.isEmpty else { return self }
        var error = self
        error.metrics = metrics
        return error
    }
}
