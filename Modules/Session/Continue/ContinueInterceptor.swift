internal import HTTPTypes
internal import LinnetSerialization

/// The link that announces bodies with `Expect: 100-continue`. It is reached only by requests that ask for the server's consent;
/// the transport waits for it.
///
/// A server that does not support expectations answers 417, and the request is repeated without one (RFC 9110, section 10.1.1).
final class ContinueInterceptor: PassiveInterceptor {
    /// The policy of requests that have none of their own.
    let policy: ContinuePolicy

    init(policy: ContinuePolicy) {
        self.policy = policy
    }

    func passes(_ request: SessionRequest, _ exchange: Exchange, _ descent: inout Descent) -> Bool {
        request.body == nil || !(request.options.continuePolicy ?? policy).applies(to: request)
    }

    func intercept(_ request: SessionRequest, next: InterceptorChain) async throws -> StreamedResponse {
        var asking = request
        asking.headerFields[.expect] = "100-continue"
        let response = try await next(asking)
        guard response.head.status == .expectationFailed, request.body?.canBeRead ?? true else { return response }
        await response.body.drain()
        do {
            var repeated = try await next(request)
            repeated.attempts = response.metrics + repeated.attempts
            return repeated
        } catch {
            throw SessionError(thrown: error, url: request.url).adding(metrics: response.metrics)
        }
    }
}

extension ContinuePolicy {
    /// Whether a request asks for the server's consent because of this policy.
    func applies(to request: SessionRequest) -> Bool {
        guard let body = request.body, !request.headerFields.contains(.expect) else { return false }
        return applies(toLength: body.length)
    }
}
