public import LinnetSerialization
internal import LinnetTransport

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
/// The first of a session's interceptors is the outermost. It is called for many requests at once, each time in a task
/// that inherits the priority and the task-local values of the caller's. That task is cancelled with the request, or at
/// the request's deadline; the request then does not wait for it, its late response is released, and `next` fails. Its
/// error fails the request: a ``SessionError`` unchanged, a `CancellationError` as ``SessionError/Code/cancelled``, any
/// other error as ``SessionError/Code/interceptorFailed`` with the underlying error.
public protocol Interceptor: Sendable {
    /// Returns the response to a request, in most cases by calling `next`.
    ///
    /// Calling `next` more than once sends the request again; a response that is not returned should be read to its end
    /// or dropped, which closes its connection.
    ///
    /// A streamed body has one reader (see ``HTTPResponseBody``): an interceptor that reads it returns a response with
    /// another body, for example `.whole` of the bytes. The body of a successful response is in memory for a call that
    /// awaits a value; an error page, and the body of a handle, a download or a stream, is streamed, however short it
    /// is.
    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse
}

/// The rest of the chain below an ``Interceptor``.
public struct InterceptorChain: Sendable {
    let engine: Engine
    /// The place of the next interceptor.
    let index: Int
    let flight: Flight
    /// The call of the interceptor that receives the chain.
    let errand: Errand<StreamedResponse>

    /// Sends the request on, and returns its response.
    public func callAsFunction(_ request: SessionRequest) async throws(SessionError) -> StreamedResponse {
        try await errand.call(cancelled: SessionError.cancelled(request.url)) { () async throws(SessionError) in
            var flight = flight.with(request)
            return try await engine.proceed(&flight, through: index).asked(for: flight.delivery)
        }
    }
}
