#if Tracing
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSession
internal import LinnetTransport
internal import Tracing

// The attributes of OpenTelemetry's conventions for HTTP client spans.
extension SpanAttributes {
    /// Creates the attributes of one sending, or of a request that was not sent.
    init(_ request: InstrumentedRequest, _ outcome: SendOutcome? = nil) {
        // One dictionary with enough room: hashing and moving the names is most of the cost of a span.
        var values = [String: SpanAttribute](minimumCapacity: 16)
        values.add(request)
        if let outcome { values.add(outcome) }
        self.init(values)
    }
}

extension [String: SpanAttribute] {
    fileprivate mutating func add(_ request: InstrumentedRequest) {
        let method = request.conventionalMethod
        self["http.request.method"] = .string(method)
        self["server.address"] = .string(request.origin.host)
        self["server.port"] = .int64(Int64(request.origin.port))
        self["url.full"] = .string(request.redactedURL)
        self["url.scheme"] = .string(request.origin.scheme)
        if method == "_OTHER" { self["http.request.method_original"] = .string(request.method.rawValue) }
        if let template = request.template { self["url.template"] = .string(template) }
        if request.sends > 1 { self["http.request.resend_count"] = .int64(Int64(request.sends - 1)) }
    }

    fileprivate mutating func add(_ outcome: SendOutcome) {
        if let status = outcome.status { self["http.response.status_code"] = .int64(Int64(status)) }
        if let type = outcome.errorType { self["error.type"] = .string(type) }
        if let version = outcome.protocolVersion { self["network.protocol.version"] = .string(version) }
        guard let last = outcome.attempts.last else { return }
        add(peerOf: last)
        self["http.request.body.size"] = .int64(last.requestBodyBytes)
        if outcome.head != nil { self["http.response.body.size"] = .int64(last.responseBodyBytes) }
        self["linnet.connection.reused"] = .bool(last.isReusedConnection)
    }

    private mutating func add(peerOf metrics: TransportMetrics) {
        if let endpoint = metrics.remoteEndpoint {
            self["network.peer.address"] = .string(endpoint.host)
            self["network.peer.port"] = .int64(Int64(endpoint.port))
        } else if let address = metrics.remoteAddress {
            self["network.peer.address"] = .string(address)
        }
    }
}
#endif
