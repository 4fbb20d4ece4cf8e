internal import HTTPTypes
internal import LinnetSerialization

/// Announces bodies with `Expect: 100-continue`. The transport then delays them.
///
/// A server that does not support expectations answers 417, and the request is repeated without one (RFC 9110, section
/// 10.1.1).
struct ContinueLink: ChainLink {
    /// The policy for requests without one.
    let policy: ContinuePolicy

    var servesPlainRequests: Bool { false }

    func send(_ flight: inout Flight) -> ChainStep {
        flight.asksForConsent =
            flight.request.body != nil && (flight.request.options.continuePolicy ?? policy).applies(to: flight.request)
        guard flight.asksForConsent else { return .proceed }
        var asking = flight.request
        asking.headerFields[.expect] = "100-continue"
        return .change(to: asking)
    }

    func receive(_ response: inout StreamedResponse, _ flight: inout Flight) -> ChainStep {
        guard flight.asksForConsent, response.head.status == .expectationFailed, flight.request.body?.canBeRead == true
        else { return .proceed }
        flight.asksForConsent = false
        var request = flight.request
        request.headerFields[.expect] = nil
        return .again(request, otherwise: .proceed)
    }
}

extension ContinuePolicy {
    /// Whether a request asks for the server's consent because of this policy.
    func applies(to request: SessionRequest) -> Bool {
        guard let body = request.body, !request.headerFields.contains(.expect) else { return false }
        return applies(toLength: body.length)
    }
}
