internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSecurity
internal import LinnetTransport
internal import NIOCore

/// Forwards everything to another transport, and records what is sent.
struct RecordingTransport: Transport {
    let base: any Transport
    let recorder: HARRecorder

    func send(
        _ request: TransportRequest, observer: (any TransportObserver)?
    ) async throws(TransportError) -> TransportResponse {
        guard let record = recorder.begin(request) else { return try await base.send(request, observer: observer) }
        var request = request
        request.body = record.watching(request.body)
        do throws(TransportError) {
            var response = try await base.send(request, observer: observer)
            response.body = record.received(response)
            return response
        } catch {
            record.failed(error)
            throw error
        }
    }

    var taskExecutors: [any TaskExecutor] { base.taskExecutors }
    var enforcesRequestTimeout: Bool { base.enforcesRequestTimeout }

    func unixSocket(of origin: Origin) -> String? { base.unixSocket(of: origin) }
    func discard(_ resources: TransportResources) { base.discard(resources) }

    func prewarm(_ head: HTTPRequest, connections count: Int) throws(TransportError) {
        try base.prewarm(head, connections: count)
    }

    func replaceSecurityPolicy(_ policy: SecurityPolicy) throws(TransportError) {
        try base.replaceSecurityPolicy(policy)
    }

    func replaceClientIdentities(_ identities: ClientIdentityPolicy) throws(TransportError) {
        try base.replaceClientIdentities(identities)
    }

    func shutdown(_ mode: ShutdownMode) async { await base.shutdown(mode) }
}

/// Takes the bytes of a request's body as they are sent.
struct WatchedBodyReader: TransportBodyReader {
    var base: any TransportBodyReader
    let record: SendRecord

    mutating func next() async throws -> ByteBuffer? {
        let bytes = try await base.next()
        if let bytes { record.didSend(bytes) }
        return bytes
    }
}
