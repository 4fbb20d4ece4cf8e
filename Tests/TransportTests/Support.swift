import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import NIOCore
import Synchronization
import Testing

/// A transport for one test, shut down at its end.
func withTransport<Result>(
    _ configure: (inout TransportConfiguration) throws -> Void = { _ in },
    perform: (HTTPTransport) async throws -> Result
) async throws -> Result {
    var configuration = TransportConfiguration()
    // Machines that run hundreds of tests in parallel are slow.
    configuration.timeouts.connect = .seconds(120)
    configuration.timeouts.tlsHandshake = .seconds(120)
    try configure(&configuration)
    let transport = try HTTPTransport(configuration)
    do {
        let result = try await perform(transport)
        await transport.shutdown(.immediate)
        return result
    } catch {
        await transport.shutdown(.immediate)
        throw error
    }
}

extension MockServer {
    /// A request to this server.
    func request(
        _ method: HTTPRequest.Method = .get, _ path: String = "/", fields: HTTPFields = [:],
        body: TransportRequestBody? = nil, delivery: ResponseDelivery = .whole(upTo: ResponseDelivery.defaultLimit),
        timeouts: TransportTimeouts = TransportTimeouts()
    ) -> TransportRequest {
        let head = HTTPRequest(
            method: method, scheme: url.scheme, authority: "\(host):\(port)", path: path, headerFields: fields)
        return TransportRequest(head: head, body: body, timeouts: timeouts, delivery: delivery)
    }
}

extension TransportResponse {
    /// The body of a response that was delivered whole.
    var text: String? { body.whole.map { String(buffer: $0) } }
}

extension TransportRequestBody {
    static func text(_ text: String) -> TransportRequestBody { .bytes(ByteBuffer(string: text)) }

    /// A streamed body of these pieces.
    static func pieces(
        _ pieces: [String], length: Int64? = nil, isReplayable: Bool = true
    ) -> TransportRequestBody {
        .stream(length: length, isReplayable: isReplayable) { PiecesReader(pieces: pieces[...]) }
    }
}

struct PiecesReader: TransportBodyReader {
    var pieces: ArraySlice<String>

    mutating func next() async throws -> ByteBuffer? {
        pieces.popFirst().map { ByteBuffer(string: $0) }
    }
}

/// Records the calls of an observer.
final class RecordingObserver: TransportObserver {
    struct Record {
        var informational: [Int] = []
        var sentBytes = 0
        var attempts: [TransportMetrics] = []
    }
    private let storage = Mutex(Record())

    var record: Record { storage.withLock { $0 } }

    func didReceiveInformational(_ head: HTTPResponse) {
        storage.withLock { $0.informational.append(head.status.code) }
    }
    func didSendBody(bytes: Int) { storage.withLock { $0.sentBytes += bytes } }
    func didFinishAttempt(_ metrics: TransportMetrics) { storage.withLock { $0.attempts.append(metrics) } }
}

/// Lets one task wait for a signal of another.
final class Signal: Sendable {
    private let (stream, continuation) = AsyncStream<Void>.makeStream()

    func send() { continuation.yield() }
    func wait() async { for await _ in stream { return } }
}

/// The error of a request that must fail.
func failure(of operation: () async throws(TransportError) -> TransportResponse) async -> TransportError? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return error
    }
}

/// Sends a request, and expects this text in its response.
func expectText(
    _ text: String, _ transport: HTTPTransport, _ request: TransportRequest,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let response = try await transport.send(request)
    #expect(response.text == text, sourceLocation: sourceLocation)
}
