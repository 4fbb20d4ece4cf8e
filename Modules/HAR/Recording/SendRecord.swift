internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetTransport
internal import NIOCore
internal import Synchronization

/// Collects the facts of one send.
final class SendRecord: ResponseBodyWatcher {
    /// The facts of one send, as far as it came.
    struct Snapshot: Sendable {
        var head: HTTPRequest
        var date: Date
        var started: ContinuousClock.Instant
        var requestBody = RecordedBytes()
        /// The digest of the request's body, if it is wanted.
        var fingerprint: String?
        var response: HTTPResponse?
        /// Whether the header fields of the response were left out, for lack of room.
        var lacksFields = false
        var responseBody = RecordedBytes()
        var trailers: HTTPFields?
        var attempts: [TransportMetrics] = []
        var failure: TransportError?
        /// Whether the reader has left the body of the response before its end.
        var isUnread = false
        var isUpgraded = false
        var responded: ContinuousClock.Instant?
        var ended: ContinuousClock.Instant?
    }

    /// The bytes of a body, as far as they were recorded.
    struct RecordedBytes: Sendable {
        /// Nil if the body is not recorded.
        var bytes: Data?
        /// The number of bytes that have passed.
        var count = 0
        var isTruncated = false
    }

    private struct State {
        var facts: Snapshot
        var requestBody: BodyLog
        var responseBody: BodyLog
        var taken: Int
        var isStopped = false
    }

    private let room: RecordingRoom
    private let watchesRequestBody: Bool
    private let state: Mutex<State>

    init(_ request: TransportRequest, _ recorder: HARRecorder, takesFingerprint: Bool) {
        let configuration = recorder.configuration
        room = recorder.room
        watchesRequestBody = takesFingerprint || configuration.bodies.contains(.requests)
        func limit(_ bodies: HARRecorder.Bodies) -> Int? {
            configuration.bodies.contains(bodies) ? max(0, configuration.maximumBodySize) : nil
        }
        let fields = request.head.headerFields
        state = Mutex(
            State(
                facts: Snapshot(head: request.head, date: configuration.now(), started: .now),
                requestBody: BodyLog(
                    limit: limit(.requests),
                    fingerprint: takesFingerprint
                        ? BodyFingerprint(contentType: fields[.contentType], configuration.redaction) : nil),
                responseBody: BodyLog(limit: limit(.responses)), taken: request.head.sizeInMemory))
    }

    /// The facts so far.
    var snapshot: Snapshot {
        state.withLock { state in
            var facts = state.facts
            facts.requestBody = Self.bytes(state.requestBody)
            facts.responseBody = Self.bytes(state.responseBody)
            facts.fingerprint = state.requestBody.fingerprint?.hexadecimal
            return facts
        }
    }

    private static func bytes(_ log: BodyLog) -> RecordedBytes {
        RecordedBytes(bytes: log.limit == nil ? nil : log.bytes, count: log.count, isTruncated: log.isTruncated)
    }

    /// Stops recording, and gives the memory back.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            room.give(state.taken)
            state.taken = 0
            state.requestBody.removeAll(room)
            state.responseBody.removeAll(room)
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { if !$0.isStopped { body(&$0) } }
    }

    // MARK: Request

    /// The body to send instead, whose bytes are recorded as they pass.
    func watching(_ body: TransportRequestBody?) -> TransportRequestBody? {
        switch body {
        case nil: return nil
        case .bytes(let bytes):
            didSend(bytes)
            return body
        case .stream(let length, let isReplayable, let make):
            guard watchesRequestBody else { return body }
            return .stream(length: length, isReplayable: isReplayable) { [self] in
                let reader = try make()
                // Another attempt sends the body from its start.
                change { $0.requestBody.removeAll(room) }
                return WatchedBodyReader(base: reader, record: self)
            }
        }
    }

    func didSend(_ bytes: ByteBuffer) { change { $0.requestBody.append(bytes, room) } }

    /// The send failed before its response.
    func failed(_ error: TransportError) {
        change { state in
            state.facts.failure = error
            state.facts.attempts = error.attempts
            state.facts.ended = .now
        }
    }

    // MARK: Response

    /// The response came. Returns its body, whose bytes are recorded as they are read.
    func received(_ response: TransportResponse) -> TransportResponseBody {
        let whole = response.body.whole
        let size = response.head.headerFields.sizeInMemory
        change { state in
            state.facts.attempts = response.attempts
            state.facts.response = response.head
            state.facts.responded = .now
            if room.take(size) {
                state.taken += size
            } else {
                state.facts.response?.headerFields = [:]
                state.facts.lacksFields = true
            }
            if let whole {
                state.responseBody.append(whole, room)
                state.facts.trailers = response.body.completion?.trailers
                state.facts.ended = .now
            }
            guard response.body.upgraded != nil else { return }
            state.facts.isUpgraded = true
            state.facts.ended = .now
        }
        return response.body.watched(by: self)
    }

    func didRead(_ bytes: ByteBuffer) { change { $0.responseBody.append(bytes, room) } }

    func didEnd(_ end: Result<TransportResponseBody.Completion?, TransportError>) {
        change { state in
            state.facts.ended = .now
            switch end {
            case .success(let completion):
                guard let completion else { return }
                state.facts.trailers = completion.trailers
                // A stub's body has no metrics.
                guard completion.metrics.start != nil else { return }
                state.facts.attempts = state.facts.attempts.dropLast() + [completion.metrics]
            case .failure(let error) where error.code == .cancelled:
                state.facts.isUnread = true
            case .failure(let error):
                state.facts.failure = error
                if let last = error.attempts.last { state.facts.attempts = state.facts.attempts.dropLast() + [last] }
            }
        }
    }
}
