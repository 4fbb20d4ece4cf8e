import FoundationEssentials
import GatewayServer
import HTTPTypes
import Linnet
import LinnetTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(2)))
struct StreamingTests {
    /// Much more than all buffers on the way.
    private static let total = 256 << 20
    /// The bytes that the sockets, the two sessions and the server may hold.
    private static let bound = 48 << 20

    @Test func theFirstBytesArriveBeforeTheLast() async throws {
        let (pieces, sender) = AsyncStream<Data>.makeStream()
        try await withGateway { _ in
            MockResponse(body: .stream(pieces))
        } perform: { gateway in
            sender.yield(Data("first".utf8))
            var body = try await gateway.client.call(try gateway.request(.get, "/api/events")).bytes().body
                .makeAsyncIterator()
            #expect(try await body.next() == Data("first".utf8))
            sender.yield(Data("second".utf8))
            #expect(try await body.next() == Data("second".utf8))
            sender.finish()
            #expect(try await body.next() == nil)
        }
    }

    @Test func aSlowReaderSlowsTheUpstream() async throws {
        let source = CountedPieces(total: Self.total)
        try await withGateway { _ in
            MockResponse(body: .stream(source, length: Self.total))
        } perform: { gateway in
            var body = try await gateway.client.call(try gateway.request(.get, "/api/large")).bytes().body
                .makeAsyncIterator()
            var count = try await body.next()?.count ?? 0
            try await source.waitUntilStill()
            #expect(source.bytes < Self.bound)
            while let chunk = try await body.next() { count += chunk.count }
            #expect(count == Self.total)
        }
    }

    @Test func aSlowUpstreamSlowsTheClient() async throws {
        let source = CountedPieces(total: Self.total)
        let (start, starter) = AsyncStream<Void>.makeStream()
        var configuration = MockServer.Configuration()
        configuration.requestBodies = .streamed
        try await withGateway(configuration, settings: { $0.maximumBodySize = Self.total }) { request in
            for await _ in start { break }
            var count = 0
            do { for try await chunk in request.chunks { count += chunk.count } } catch { return .status(.badRequest) }
            return .text("\(count)")
        } perform: { gateway in
            var request = try gateway.request(.post, "/api/upload")
            request.body = .chunks(source, length: Int64(Self.total))
            async let response = gateway.send(request)
            try await source.waitUntilStill()
            #expect(source.bytes < Self.bound)
            starter.finish()
            #expect(try await response.text == "\(Self.total)")
        }
    }
}

/// Pieces of a body, counted as they are taken.
final class CountedPieces: AsyncSequence, Sendable {
    typealias Element = Data
    private static let piece = Data(count: 64 << 10)
    private let total: Int
    private let taken = Mutex(0)

    init(total: Int) { self.total = total }

    var bytes: Int { taken.withLock { $0 } }

    /// Waits until pieces were taken and no further ones are, because the reader waits.
    func waitUntilStill() async throws {
        var (before, unchanged) = (-1, 0)
        while unchanged < 40 {
            try await Task.sleep(for: .milliseconds(10))
            let now = bytes
            unchanged = now == before && now > 0 ? unchanged + 1 : 0
            before = now
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(pieces: self) }

    struct Iterator: AsyncIteratorProtocol {
        let pieces: CountedPieces
        mutating func next() async -> Data? {
            pieces.taken.withLock { taken in
                guard taken < pieces.total else { return nil }
                taken += CountedPieces.piece.count
                return CountedPieces.piece
            }
        }
    }
}
