public import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization

/// Decides when a request is retried, and after which delay.
///
/// ```swift
/// let session = try HTTPSession { $0.retryPolicy = .limited(to: 3) }
/// ```
/// Only transient failures of idempotent requests are retried; see ``methods``. Independently of this policy, a request
/// that can be replayed is sent again once if a reused connection ended without a byte of response.
///
/// An attempt includes the response's body, where the library reads it: a connection that breaks in the middle of the
/// body of a value or of a download is followed by another attempt. A download continues from its part if it keeps one
/// (``DownloadOptions/keepsPart``), and else begins anew. Observers see the response of each attempt; progress never
/// goes back, and stays where it is until an attempt gets further than the one before. A response that the caller reads
/// as it arrives is not requested again.
public struct RetryPolicy: Sendable, Hashable, RequestRetrier {
    /// The maximum number of retries. The default is 0. Beyond it, the request has the response or the error of its
    /// last attempt.
    public var limit: Int
    /// The methods of requests that are retried. The default is the idempotent ones of RFC 9110, section 9.2.2: DELETE,
    /// GET, HEAD, OPTIONS, PUT and TRACE. A request with an Idempotency-Key is retried whatever its method; see
    /// `RequestOptions.sendsIdempotencyKey`.
    public var methods: Set<HTTPRequest.Method> = [.delete, .get, .head, .options, .put, .trace]
    /// The statuses that are retried. The default is 408, 429, 500, 502, 503 and 504.
    public var statusCodes: Set<Int> = [408, 429, 500, 502, 503, 504]
    /// The errors that are retried. The default is errors of name resolution and connections, and timeouts except for
    /// the timeout of the whole request.
    public var errorCodes: Set<SessionError.Code> = [
        .nameResolutionFailed, .connectionFailed, .connectionLost, .timeout,
    ]
    /// The delays between attempts.
    public var backoff = Backoff()
    /// The longest accepted Retry-After (RFC 9110, section 10.2.3). The default is 60 seconds. Beyond it, the response
    /// is not retried.
    public var maximumRetryAfter = Duration.seconds(60)

    /// Makes a policy.
    public init(limit: Int = 0) {
        self.limit = limit
    }

    /// Never retries. This is the default of a session.
    public static let never = RetryPolicy()

    /// Retries transient failures of idempotent requests up to this many times.
    public static func limited(to limit: Int) -> RetryPolicy {
        RetryPolicy(limit: limit)
    }

    /// Increasing delays between attempts.
    public struct Backoff: Sendable, Hashable {
        /// The wait after the first attempt. The default is half a second.
        public var first = Duration.milliseconds(500)
        /// The factor by which each next wait is longer. The default is 2.
        public var factor = 2.0
        /// The longest wait. The default is 30 seconds. Beyond it, waits do not grow.
        public var maximum = Duration.seconds(30)
        /// The random part of each wait, so that clients do not retry at the same time: from 0 for none to 1 for any
        /// wait up to the full one. The default is 0.5.
        public var jitter = 0.5

        /// Creates the default delays.
        public init() {}

        /// The wait after this number of attempts.
        package func wait(after attempts: Int) -> Duration {
            // Floating point cannot overflow for any value of a caller; a billion seconds are as good as never.
            let longest = min(max(0, maximum / .seconds(1)), 1e9)
            var wait = min(max(0, first / .seconds(1)), longest)
            for _ in 1..<max(1, min(attempts, 64)) where wait < longest { wait = min(wait * factor, longest) }
            guard wait.isFinite, wait > 0 else { return .zero }
            let part = jitter > 0 ? min(1, jitter) : 0
            return .seconds(wait * (1 - part * Double.random(in: 0...1)))
        }
    }

    /// Whether the policy is asked about responses that are no failures: true, because any status can be among its
    /// ``statusCodes``.
    public var judgesResponses: Bool { true }

    /// Decides by the policy.
    public func decide(on attempt: Attempt) -> Decision {
        let request = attempt.request
        guard methods.contains(request.method) || request.headerFields.contains(.idempotencyKey),
            attempt.error?.timeout != .request
        else { return .doNotRetry }
        return decide(after: attempt.number, errorCode: attempt.error?.code, head: attempt.head)
    }

    /// Decides after this number of attempts, whatever the method: the last one failed with an error or, without an
    /// error, has this response.
    package func decide(after attempts: Int, errorCode: SessionError.Code?, head: HTTPResponse?) -> Decision {
        guard attempts <= limit else { return .doNotRetry }
        if let errorCode {
            return errorCodes.contains(errorCode) ? .retry(after: backoff.wait(after: attempts)) : .doNotRetry
        }
        guard let head, mayRetry(head) else { return .doNotRetry }
        let asked = head.retryAfter ?? .zero
        guard asked <= maximumRetryAfter else { return .doNotRetry }
        return .retry(after: max(asked, backoff.wait(after: attempts)))
    }
}

extension Duration {
    /// The longest wait: a hundred years. Clocks end the process when a sleep has more seconds than an `Int64` can
    /// hold, and a server or a caller can request that.
    static let longestWait = Duration.seconds(Int64(100 * 365 * 86_400))

    /// The duration, limited to the longest wait.
    package var waitable: Duration { min(self, .longestWait) }
}
