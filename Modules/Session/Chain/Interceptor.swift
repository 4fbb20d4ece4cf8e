public import LinnetSerialization

/// A link of the chain that requests and their responses pass through.
///
/// An interceptor may change the request, answer it without sending it, send it again, or change the response:
///
/// ```swift
/// struct AgentInterceptor: Interceptor {
///     func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
///         var request = request
///         request.headerFields[.userAgent] = "Finch/1.2"
///         return try await next(request)
///     }
/// }
/// ```
/// The first of a session's interceptors is the outermost. It is called in the caller's task, for many requests at once. An
/// error that it throws fails the request: a ``SessionError`` as it is, a `CancellationError` as
/// ``SessionError/Code/cancelled``, any other error as ``SessionError/Code/interceptorFailed`` with the underlying error.
public protocol Interceptor: Sendable {
    /// Returns the response to a request, in most cases by calling `next`.
    ///
    /// Calling `next` more than once sends the request again; a response that is not returned should be read to its end
    /// or dropped, which closes its connection.
    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse
}

/// The rest of the chain below an ``Interceptor``.
public struct InterceptorChain: Sendable {
    let engine: Engine
    let index: Int
    let exchange: Exchange

    /// Sends the request on, and returns its response.
    public func callAsFunction(_ request: SessionRequest) async throws(SessionError) -> StreamedResponse {
        try await engine.proceed(request, from: index, exchange)
    }
}
