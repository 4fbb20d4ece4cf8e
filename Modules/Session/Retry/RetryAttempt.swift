public import HTTPTypes
public import LinnetSerialization
internal import LinnetTransport

/// An attempt that can be retried: it failed, or it has a response that is not validated yet, or one that could not be decoded.
public struct RetryAttempt: Sendable {
    /// The number of attempts, including this one.
    public let number: Int
    /// The request, without the changes of the adapters. The next attempt begins with it.
    public let request: SessionRequest
    /// The request as the adapters changed it, for example with the token that the server refused.
    ///
    /// A retrier that refreshes a token compares it with the current one, so that a token that another request or an adapter
    /// has refreshed already is not refreshed twice.
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

/// Whether a request is retried.
public enum RetryDecision: Sendable, Hashable {
    /// Do not retry: the request ends with this response or error.
    case doNotRetry
    /// Retry after this duration.
    case retry(after: Duration)
}

/// Decides on retries beside a session's ``RetryPolicy``, such as after it has fetched a new token.
///
/// Retriers are called in order, before the policy; the first that retries decides. Each must limit its own retries by
/// ``RetryAttempt/number``: no other limit applies. They are asked about failures, about each response before it is validated, and
/// about a response that could not be decoded (``SessionError/Code/decodingFailed``,
/// ``SessionError/Code/unacceptableContentType``), which a stream or a download never is.
public protocol RequestRetrier: Sendable {
    /// Decides on an attempt. An error fails the request as an ``Interceptor``'s error does.
    func decide(on attempt: RetryAttempt) async throws -> RetryDecision
}

/// Changes outgoing requests, for example to sign or date each attempt.
///
/// Adapters run below the retries and above the redirects: they are called for each attempt, but not for each redirect.
/// Credentials that they add are not sent to another origin; see ``RedirectPolicy``.
public protocol RequestAdapter: Sendable {
    /// Returns the request to send. An error fails the request as an ``Interceptor``'s error does.
    func adapt(_ request: SessionRequest) async throws -> SessionRequest
}

/// The link that calls the adapters, in order.
final class AdapterInterceptor: PassiveInterceptor {
    let adapters: [any RequestAdapter]

    init(adapters: [any RequestAdapter]) {
        self.adapters = adapters
    }

    func passes(_ request: SessionRequest, _ exchange: Exchange, _ descent: inout Descent) -> Bool {
        adapters.isEmpty && exchange.call.own?.adapters.isEmpty ?? true
    }

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        let all = adapters + (next.exchange.call.own?.adapters ?? [])
        let adapted = try await untilCancelled {
            var request = request
            for adapter in all { request = try await adapter.adapt(request) }
            return request
        }
        next.exchange.record?.adapt(adapted)
        return try await next(adapted)
    }
}
