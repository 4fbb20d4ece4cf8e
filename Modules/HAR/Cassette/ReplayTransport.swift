internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSecurity
internal import LinnetTransport
internal import NIOCore
internal import Synchronization

/// Answers requests from a cassette. The other transport is shut down together with this one, and otherwise not used.
final class ReplayTransport: Transport {
    private let tape: Tape
    private let base: any Transport
    private let isShutDown = Atomic(false)

    init(_ tape: Tape, base: any Transport) {
        self.tape = tape
        self.base = base
    }

    func send(
        _ request: TransportRequest, observer: (any TransportObserver)?
    ) async throws(TransportError) -> TransportResponse {
        guard !isShutDown.load(ordering: .acquiring) else {
            throw TransportError(.shutDown, "The transport was shut down.")
        }
        guard request.upgrade == nil else {
            throw .replay(
                HARError(
                    .upgradeNotReplayable,
                    "A cassette cannot answer a request that switches protocols, such as a WebSocket."))
        }
        let replayed = try await read(request, observer)
        let entry: TapeEntry
        do throws(HARError) {
            entry = try tape.take(for: replayed)
        } catch {
            throw .replay(error)
        }
        guard !Task.isCancelled else { throw .replayCancelled }
        return try answer(entry, to: request, bodySize: replayed.bodySize, observer)
    }

    private func read(
        _ request: TransportRequest, _ observer: (any TransportObserver)?
    ) async throws(TransportError) -> ReplayedRequest {
        do {
            return try await ReplayedRequest(request, observer, tape.configuration)
        } catch {
            if Task.isCancelled || error is CancellationError { throw .replayCancelled }
            if let error = error as? TransportError { throw error }
            throw TransportError(.requestBodyFailed, "The request body failed: \(error)", underlying: error)
        }
    }

    private func answer(
        _ entry: TapeEntry, to request: TransportRequest, bodySize: Int, _ observer: (any TransportObserver)?
    ) throws(TransportError) -> TransportResponse {
        var metrics = TransportMetrics()
        metrics.httpVersion = entry.answer.httpVersion
        metrics.requestBodyBytes = Int64(bodySize)
        let now = ContinuousClock.now
        (metrics.start, metrics.requestStart, metrics.requestEnd) = (now, now, now)
        (metrics.responseStart, metrics.responseEnd) = (now, now)
        metrics.responseBodyBytes = Int64(entry.answer.body?.count ?? 0)
        guard let head = entry.answer.head, let body = try body(entry, request, metrics) else {
            var error = entry.answer.failure ?? .notRecorded(entry, "was not recorded")
            metrics.failure = .other
            error.attempts = [metrics]
            observer?.didFinishAttempt(metrics)
            throw error
        }
        observer?.didFinishAttempt(metrics)
        return TransportResponse(head: head, body: body, metrics: metrics)
    }

    /// The body of the answer; nil if the send fails as it was recorded.
    private func body(
        _ entry: TapeEntry, _ request: TransportRequest, _ metrics: TransportMetrics
    ) throws(TransportError) -> TransportResponseBody? {
        let answer = entry.answer
        if let problem = answer.problem { throw .notRecorded(entry, problem) }
        let bytes = ByteBuffer(bytes: answer.body ?? Data())
        guard answer.failure != nil || answer.isUnread else {
            if case .whole(let limit) = request.delivery, bytes.readableBytes > limit, !streams(answer.head, request) {
                throw TransportError(.bodyTooLarge, "The response body exceeds the limit of \(limit) bytes.")
            }
            return TransportResponseBody(bytes, trailers: answer.trailers)
        }
        guard streams(answer.head, request) else {
            if answer.failure != nil { return nil }
            throw .notRecorded(entry, "was not read to its end when it was recorded")
        }
        let (body, writer) = TransportResponseBodyWriter.makeBody()
        if bytes.readableBytes > 0 { writer.write(bytes) }
        writer.fail(answer.failure ?? .notRecorded(entry, "was not read to its end when it was recorded"))
        return body
    }

    /// Whether a connection would deliver the body as a stream.
    private func streams(_ head: HTTPResponse?, _ request: TransportRequest) -> Bool {
        guard let head, case .whole = request.delivery else { return true }
        return request.streamsUnsuccessfulResponses && head.status.code >= 300
            || request.streamsCodedResponses && head.headerFields.contains(.contentEncoding)
    }

    func unixSocket(of origin: Origin) -> String? { base.unixSocket(of: origin) }

    // There are no connections that a policy could apply to.
    func replaceSecurityPolicy(_ policy: SecurityPolicy) {}
    func replaceClientIdentities(_ identities: ClientIdentityPolicy) {}

    func shutdown(_ mode: ShutdownMode) async {
        isShutDown.store(true, ordering: .releasing)
        await base.shutdown(mode)
    }
}

extension TransportError {
    fileprivate static func replay(_ error: HARError) -> TransportError {
        TransportError(.invalidRequest, error.message, underlying: error)
    }

    fileprivate static func notRecorded(_ entry: TapeEntry, _ problem: String) -> TransportError {
        let place = "log.entries[\(entry.index)].response.content"
        return replay(
            HARError(
                .bodyNotRecorded,
                "The body of the response to \("\(entry.key.method) \(entry.key.url)".oneLine) \(problem).",
                place: place))
    }

    fileprivate static var replayCancelled: TransportError {
        TransportError(.cancelled, "The request was cancelled.")
    }
}
