import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Synchronization
import Testing

/// Suspending stops the transfer itself, over real sockets: the other end cannot go on.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct BackpressureTests {
    private static let pieces = 512
    /// The chunks before the suspension of a task. Without a pause after them, it could end earlier.
    private static let firstPieces = 4

    @Test func theServerStopsSendingWhileADownloadIsSuspended() async throws {
        let source = CountedSource(pieces: Self.pieces, pausesAfter: Self.firstPieces)
        let handler: MockServer.Handler = { request in
            request.path == "/small" ? .text("x") : MockResponse(body: .stream(source))
        }
        try await withMockServer(handler: handler) { server in
            try await withScratchFolder { folder in
                let session = try HTTPSession()
                let task = try session.call(SessionRequest(url: server.url("/large"))).downloadTask(to: folder["file"])
                let progress = EventRecorder<Int64>()
                task.onProgress { progress.record($0.download.completed) }
                task.resume()
                try await progress.wait { ($0.last ?? 0) > 0 }
                task.suspend()
                source.goOn.fire()
                #expect(try await settledCount(of: source, session, server) < Self.pieces)
                #expect(task.state == .suspended)
                task.resume()
                #expect(try await task.value.head.status == .ok)
                #expect(source.made == Self.pieces)
                let size = try Data(contentsOf: folder["file"], options: .alwaysMapped).count
                #expect(size == Self.pieces * CountedSource.piece.count)
                await session.shutdown()
            }
        }
    }

    @Test func aStreamIsReadNoFasterThanItsReaderTakesIt() async throws {
        let source = CountedSource(pieces: Self.pieces)
        let handler: MockServer.Handler = { request in
            request.path == "/small" ? .text("x") : MockResponse(body: .stream(source))
        }
        try await withMockServer(handler: handler) { server in
            let session = try HTTPSession()
            let task = try session.call(SessionRequest(url: server.url("/large"))).streamTask()
            task.resume()
            let response = try await task.response
            var chunks = response.body.makeAsyncIterator()
            var size = try await chunks.next()?.count ?? 0
            #expect(try await settledCount(of: source, session, server) < Self.pieces)
            while let chunk = try await chunks.next() { size += chunk.count }
            #expect(size == Self.pieces * CountedSource.piece.count)
            _ = try await task.value
            await session.shutdown()
        }
    }

    @Test func theSourceIsNotReadWhileAnUploadIsSuspended() async throws {
        let source = CountedSource(pieces: Self.pieces, pausesAfter: Self.firstPieces)
        var configuration = MockServer.Configuration()
        configuration.requestBodies = .streamed
        let handler: MockServer.Handler = { request in
            guard request.path == "/upload" else { return .text("x") }
            var size = 0
            do { for try await chunk in request.chunks { size += chunk.count } } catch {}
            return .text(String(size))
        }
        try await withMockServer(configuration: configuration, handler: handler) { server in
            let session = try HTTPSession()
            let body = HTTPRequestBody.stream(length: nil, isReplayable: false) { source.makeAsyncIterator() }
            let task = try session.call(SessionRequest(url: server.url("/upload"), method: .put)).body(body).task(
                StringResponseSerializer())
            let progress = EventRecorder<Int64>()
            task.onProgress { progress.record($0.upload.completed) }
            task.resume()
            try await progress.wait { ($0.last ?? 0) > 0 }
            task.suspend()
            source.goOn.fire()
            #expect(try await settledCount(of: source, session, server) < Self.pieces)
            task.resume()
            #expect(try await task.value.value == String(Self.pieces * CountedSource.piece.count))
            await session.shutdown()
        }
    }

    /// Bytes that wait in this process were not sent.
    @Test func uploadProgressCountsTheBytesThatTheSocketAccepted() async throws {
        let bytes = Data(count: 128 * 1024 * 1024)
        let goOn = Signal()
        var configuration = MockServer.Configuration()
        configuration.requestBodies = .streamed
        let handler: MockServer.Handler = { request in
            guard request.path == "/upload" else { return .text("x") }
            await goOn.wait()
            do { for try await _ in request.chunks {} } catch {}
            return .text("done")
        }
        try await withMockServer(configuration: configuration, handler: handler) { server in
            let session = try HTTPSession()
            let task = try session.call(SessionRequest(url: server.url("/upload"), method: .put)).body(.data(bytes))
                .task(
                    StringResponseSerializer())
            task.resume()
            while task.progress.upload.completed == 0, !Task.isCancelled { await Task.yield() }
            var before: Int64 = -1
            while before != task.progress.upload.completed {
                before = task.progress.upload.completed
                for _ in 0..<50 { _ = try await session.call(SessionRequest(url: server.url("/small"))).response() }
            }
            #expect(before < bytes.count)
            #expect(task.progress.upload.total == Int64(bytes.count))
            goOn.fire()
            _ = try await task.value
            #expect(task.progress.upload == TransferProgress(completed: Int64(bytes.count), total: Int64(bytes.count)))
            await session.shutdown()
        }
    }

    /// How many pieces were made once there are no more of them while requests go back and forth.
    private func settledCount(of source: CountedSource, _ session: HTTPSession, _ server: MockServer) async throws
        -> Int
    {
        while true {
            let before = source.made
            for _ in 0..<50 { _ = try await session.call(SessionRequest(url: server.url("/small"))).response() }
            if source.made == before { return before }
        }
    }
}

/// Makes pieces, and counts them.
private final class CountedSource: AsyncSequence, Sendable {
    static let piece = Data(repeating: 0x61, count: 256 * 1024)

    struct AsyncIterator: AsyncIteratorProtocol, HTTPRequestBodyReader {
        let source: CountedSource

        mutating func next() async throws -> Data? {
            guard source.made < source.pieces else { return nil }
            if source.made == source.pause { await source.goOn.wait() }
            source.count.add(1, ordering: .relaxed)
            return CountedSource.piece
        }
    }

    let pieces: Int
    /// Makes the pieces after the pause.
    let goOn = Signal()
    private let pause: Int?
    private let count = Atomic(0)

    /// - Parameter pause: The number of pieces after which the source waits until ``goOn`` has fired.
    init(pieces: Int, pausesAfter pause: Int? = nil) {
        self.pieces = pieces
        self.pause = pause
    }

    var made: Int { count.load(ordering: .relaxed) }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: self) }
}
