import FoundationEssentials
import HTTPTypes
import LinnetTesting
import LinnetTransport
import NIOCore
import Synchronization
import Testing

@Suite("Responses", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ResponseTests {
    /// Requests a response.
    private func exchange(
        _ response: MockResponse, method: HTTPRequest.Method = .get, observer: RecordingObserver? = nil
    ) async throws -> TransportResponse {
        try await withMockServer { _ in
            response
        } perform: { server in
            try await withTransport { try await $0.send(server.request(method), observer: observer) }
        }
    }

    @Test func aFixedLengthIsReadToItsEnd() async throws {
        let response = try await exchange(.text("hello"))
        #expect(response.head.status == .ok)
        #expect(response.head.headerFields[.contentType] == "text/plain; charset=utf-8")
        #expect(response.text == "hello")
    }

    @Test func chunksAreJoinedAndTrailersKept() async throws {
        let checksum = try #require(HTTPField.Name("X-Checksum"))
        let response = try await exchange(
            MockResponse(body: .chunks([Data("he".utf8), Data("llo".utf8)]), trailers: [checksum: "5d41"]))
        #expect(response.text == "hello")
        #expect(response.body.completion?.trailers?[checksum] == "5d41")
    }

    @Test func theConnectionsEndCanBeTheBodysEnd() async throws {
        let response = try await exchange(MockResponse(body: .untilClose(Data("to the end".utf8))))
        #expect(response.text == "to the end")
    }

    @Test(arguments: [HTTPResponse.Status.noContent, .notModified])
    func statusesWithoutABodyHaveNone(status: HTTPResponse.Status) async throws {
        let response = try await exchange(MockResponse(status: status))
        #expect(response.head.status == status)
        #expect(response.text == "")
    }

    @Test func headHasALengthAndNoBody() async throws {
        let response = try await exchange(.text("hello"), method: .head)
        #expect(response.head.headerFields[.contentLength] == "5")
        #expect(response.text == "")
    }

    @Test func informationalResponsesGoToTheObserver() async throws {
        let observer = RecordingObserver()
        let response = try await exchange(
            MockResponse(
                body: .text("done"),
                informational: [HTTPResponse(status: .init(code: 102)), HTTPResponse(status: .init(code: 103))]),
            observer: observer)
        #expect(response.text == "done")
        #expect(observer.record.informational == [102, 103])
    }

    @Test func metricsReportTheSteps() async throws {
        let metrics = try await exchange(.text("hello")).metrics
        let start = try #require(metrics.start)
        let steps = [
            metrics.queue?.end, metrics.requestStart, metrics.requestEnd, metrics.responseStart, metrics.responseEnd,
        ]
        var last = start
        for step in steps {
            let step = try #require(step)
            #expect(step >= last)
            last = step
        }
        // Waiting for a place ends where opening the connection begins.
        let (queue, connect) = try (#require(metrics.queue), #require(metrics.connect))
        #expect(queue.start == start && queue.end <= connect.start)
        #expect(try connect.end <= #require(metrics.requestStart))
        #expect(metrics.responseBodyBytes == 5)
        #expect(metrics.httpVersion == "http/1.1")
        #expect(metrics.tlsVersion == nil && !metrics.isPinned)
        #expect(metrics.remoteAddress?.hasPrefix("127.0.0.1:") == true)
        #expect(!metrics.isReusedConnection)
    }
}

@Suite("Streamed responses", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct StreamedResponseTests {
    @Test func theHeadComesBeforeTheBody() async throws {
        let signal = Signal()
        let pieces = AsyncStream<Data> { continuation in
            Task {
                continuation.yield(Data("first ".utf8))
                await signal.wait()
                continuation.yield(Data("second".utf8))
                continuation.finish()
            }
        }
        try await withMockServer { _ in
            MockResponse(body: .stream(pieces))
        } perform: { server in
            try await withTransport { transport in
                let response = try await transport.send(server.request(delivery: .streamed))
                #expect(response.head.status == .ok)
                var reader = response.body.makeAsyncIterator()
                #expect(try await reader.next().map { String(buffer: $0) } == "first ")
                #expect(response.body.completion == nil)
                signal.send()
                #expect(try await reader.next().map { String(buffer: $0) } == "second")
                #expect(try await reader.next() == nil)
                #expect(response.body.completion?.metrics.responseBodyBytes == 12)
            }
        }
    }

    @Test func aReaderThatWaitsHoldsTheServerBack() async throws {
        // More than all buffers can hold.
        let source = CountedPieces(count: 1_024, size: 256 * 1_024)
        try await withMockServer { request in
            request.path == "/small" ? .text("small") : MockResponse(body: .stream(source))
        } perform: { server in
            try await withTransport { transport in
                let response = try await transport.send(server.request(delivery: .streamed))
                var before: Int
                repeat {
                    before = source.made
                    for _ in 0..<50 { try await expectText("small", transport, server.request(.get, "/small")) }
                } while source.made > before
                #expect((1..<source.count / 2).contains(before))
                var (received, largest) = (0, 0)
                for try await chunk in response.body {
                    received += chunk.readableBytes
                    largest = max(largest, chunk.readableBytes)
                }
                #expect(received == source.count * source.piece.count && source.made == source.count)
                #expect(largest <= 1_024 * 1_024)
            }
        }
    }

    @Test func aDroppedBodyClosesItsConnection() async throws {
        let size = 16 * 1024 * 1024
        try await withMockServer { request in
            request.path == "/large" ? MockResponse(body: .bytes(Data(count: size))) : .text("small")
        } perform: { server in
            try await withTransport({ $0.pool.connectionsPerOrigin = 1 }) { transport in
                _ = try await transport.send(server.request(path: "/large", delivery: .streamed)).head
                // The only place is free again.
                let next = try await transport.send(server.request())
                #expect(next.text == "small")
                #expect(server.acceptedConnections == 2)
            }
        }
    }

    @Test func aSmallBodyIsAvailableAtOnce() async throws {
        try await withMockServer { _ in
            .text("small")
        } perform: { server in
            try await withTransport { transport in
                let response = try await transport.send(server.request(delivery: .streamed))
                #expect(try await response.body.collect(upTo: 5) == ByteBuffer(string: "small"))
            }
        }
    }

    @Test func collectingStopsAtItsLimit() async throws {
        try await withMockServer { _ in
            .text("too long")
        } perform: { server in
            try await withTransport { transport in
                let response = try await transport.send(server.request(delivery: .streamed))
                let error = await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 5) }
                #expect(error?.code == .bodyTooLarge)
            }
        }
    }

    @Test func aBodyThatBreaksOffFails() async throws {
        let response = MockResponse(body: .bytes(Data(count: 100_000)))
            .with(.init(.reset, at: .responseBody(after: 50_000)))
        try await withMockServer { _ in
            response
        } perform: { server in
            try await withTransport { transport in
                let error = await #expect(throws: TransportError.self) {
                    try await transport.send(server.request(delivery: .streamed)).body.collect(upTo: .max)
                }
                #expect(error?.code == .connectionClosed)
            }
        }
    }
}

extension MockServer {
    fileprivate func request(path: String, delivery: ResponseDelivery) -> TransportRequest {
        request(.get, path, delivery: delivery)
    }
}

/// Produces pieces on demand and counts them.
private final class CountedPieces: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        let source: CountedPieces

        mutating func next() async throws -> Data? {
            guard source.made < source.count else { return nil }
            source.counter.add(1, ordering: .relaxed)
            return source.piece
        }
    }

    let count: Int
    let piece: Data
    private let counter = Atomic(0)

    init(count: Int, size: Int) {
        self.count = count
        piece = Data(count: size)
    }

    var made: Int { counter.load(ordering: .relaxed) }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: self) }
}
