public import LinnetSession

extension ReconnectingWebSocket {
    /// The options of a ``ReconnectingWebSocket``.
    public struct Options: Sendable {
        /// The options of each connection.
        public var webSocket = WebSocket.Options()
        /// Decides which failures lead to another attempt, how many follow, and after which delays.
        ///
        /// The default follows RFC 6455, section 7.2.3: a random delay of up to 5 seconds, whose upper bound doubles
        /// with each failed attempt up to a minute, without a limit on their number. As for any `RetryPolicy`,
        /// connections that failed or were lost, timeouts, names that were not resolved, and the statuses 408, 429,
        /// 500, 502, 503 and 504 are transient, and a Retry-After field is obeyed; a refused certificate and the
        /// statuses 401 and 403 are not. A lost connection counts as `SessionError.Code.connectionLost`, a Ping frame
        /// without an answer as `timeout`. `methods` has no effect.
        ///
        /// `limit` is the number of consecutive attempts that may fail. A message from the server, or a connection that
        /// lasted for `backoff.maximum`, resets the count.
        public var retryPolicy = RetryPolicy.webSockets
        /// The codes of the server's Close frame that lead to another attempt. The default is 1001, 1011, 1012, 1013
        /// and
        /// 1014. Any other code is final.
        public var closeCodes: Set<WebSocket.CloseCode> = [
            .goingAway, .internalError, .serviceRestart, .tryAgainLater, .badGateway,
        ]
        /// The clock for the delays. The default is the continuous clock.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// The defaults.
        public init() {}
    }
}

extension RetryPolicy {
    fileprivate static var webSockets: RetryPolicy {
        var policy = RetryPolicy(limit: .max)
        policy.backoff.first = .seconds(5)
        policy.backoff.maximum = .seconds(60)
        policy.backoff.jitter = 1
        return policy
    }
}

extension ReconnectingWebSocket.Options {
    /// The delay before the next attempt after this number of failures, the last one with an error; nil if the error is
    /// final.
    func delay(after failures: Int, _ error: WebSocketError) -> Duration? {
        guard case .retry(let delay) = decide(after: failures, error) else { return nil }
        return delay.waitable
    }

    private func decide(after failures: Int, _ error: WebSocketError) -> RetryPolicy.Decision {
        let cause: SessionError.Code
        switch error.code {
        case .openingFailed:
            guard let opening = error.underlying as? SessionError else { return .doNotRetry }
            let isAnswered = opening.code == .unacceptableStatus
            return retryPolicy.decide(
                after: failures, errorCode: isAnswered ? nil : opening.code, head: opening.head)
        case .closed:
            guard let code = error.closure?.code, closeCodes.contains(code) else { return .doNotRetry }
            cause = .connectionLost
        case .connectionLost: cause = .connectionLost
        case .pongTimeout: cause = .timeout
        default: return .doNotRetry
        }
        return retryPolicy.decide(after: failures, errorCode: cause, head: nil)
    }
}
