internal import FoundationEssentials
internal import LinnetSerialization

/// An interceptor of the library's own that has nothing to do with most requests.
///
/// The engine asks it about the request on the way down and about the outcome on the way up, and calls it only when it has
/// something to do. So a request that passes it costs neither a call that can suspend nor the memory of that call.
///
/// It is a class, so that asking it copies one reference.
protocol PassiveInterceptor: Interceptor, AnyObject {
    /// Whether the request goes on as it is, without a call of ``intercept(_:next:)``. What the interceptor needs to know afterwards, it
    /// notes in `descent`.
    func passes(_ request: SessionRequest, _ exchange: Exchange, _ descent: inout Descent) -> Bool

    /// The response to a request that did not pass, if it can be had without suspending; nil if ``intercept(_:next:)`` is to be called.
    func response(to request: SessionRequest, _ exchange: Exchange, _ descent: Descent) -> StreamedResponse?

    /// Whether the response to a request that passed is returned without a call of ``intercept(_:of:descent:next:)``. It may store or
    /// note what it needs of the response.
    func passes(_ response: inout StreamedResponse, to request: SessionRequest, _ exchange: Exchange) -> Bool

    /// Whether the failure of a request that passed is final.
    func passes(_ error: SessionError, of request: SessionRequest, _ exchange: Exchange) -> Bool

    /// Does what ``intercept(_:next:)`` does after it has called `next`, with the outcome of a request that passed.
    func intercept(
        _ outcome: Result<StreamedResponse, SessionError>, of request: SessionRequest, descent: Descent,
        next: InterceptorChain
    ) async throws -> StreamedResponse
}

// Most interceptors leave everything above the request that passed them as it is.
extension PassiveInterceptor {
    func response(to request: SessionRequest, _ exchange: Exchange, _ descent: Descent) -> StreamedResponse? { nil }

    func passes(_ response: inout StreamedResponse, to request: SessionRequest, _ exchange: Exchange) -> Bool { true }

    func passes(_ error: SessionError, of request: SessionRequest, _ exchange: Exchange) -> Bool { true }

    func intercept(
        _ outcome: Result<StreamedResponse, SessionError>, of request: SessionRequest, descent: Descent,
        next: InterceptorChain
    ) async throws -> StreamedResponse {
        try outcome.get()
    }
}
