public import HTTPTypes
public import LinnetSerialization

extension RetryPolicy {
    /// An attempt that can be retried: it failed, or it has a response that is not validated yet, or one whose body was
    /// refused or could not be decoded.
    public struct Attempt: Sendable {
        /// The number of attempts, including this one.
        public let number: Int
        /// The request, without the changes of the adapters. The next attempt begins with it.
        public let request: SessionRequest
        /// The request after the adapters' changes, for example with the token that the server refused.
        ///
        /// A retrier that refreshes a token compares it with the current one, so that a token is not refreshed again
        /// after another request or an adapter has refreshed it.
        public let sentRequest: SessionRequest
        /// The response's status and header fields; nil when there was none.
        public let head: HTTPResponse?
        /// The error; nil when there is a response that is not validated yet.
        public let error: SessionError?

        /// Makes an attempt; for tests of retriers. The default of `sentRequest` is `request`.
        public init(
            number: Int, request: SessionRequest, head: HTTPResponse? = nil, error: SessionError? = nil,
            sentRequest: SessionRequest? = nil
        ) {
            self.number = number
            self.request = request
            self.sentRequest = sentRequest ?? request
            self.head = head
            self.error = error
        }
    }
}

extension RetryPolicy {
    /// Whether a request is retried.
    public enum Decision: Sendable, Hashable {
        /// Do not retry: the request ends with this response or error.
        case doNotRetry
        /// Retry after this duration.
        case retry(after: Duration)
    }
}
