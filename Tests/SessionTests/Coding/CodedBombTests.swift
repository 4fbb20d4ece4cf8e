import CommandSupport
import FoundationEssentials
import LinnetBrotli
import LinnetCompression
import LinnetSession
import LinnetTesting
import LinnetZstandard
import SanitizerSupport
import Synchronization
import Testing

/// 10 GB of zeros, which the server encodes as they are read, received by a session; a twentieth without
/// LINNET_TEST_LARGE.
@Suite(.serialized, .leavesNothingAlive, .timeLimit(.minutes(10)))
struct CodedBombTests {
    /// How a body is read.
    enum Ending: CaseIterable, Sendable {
        case data, bytes
    }

    private static let codings: [ContentCoding] = [.gzip, .deflate, .brotli, .zstandard]
    private static let size: Int64 =
        ProcessInfo.processInfo.environment["LINNET_TEST_LARGE"] == nil ? 500_000_000 : 10_000_000_000

    @Test(arguments: codings, Ending.allCases)
    func theRatioStopsBombs(coding: ContentCoding, ending: Ending) async throws {
        let (decoded, cause) = try await receive(coding, by: ending) { _ in }
        #expect(cause == .ratioExceeded)
        #expect(decoded < 4 << 20)
    }

    @Test(arguments: codings) func theSizeStopsBombs(coding: ContentCoding) async throws {
        let limit = Self.size / 10 * 9
        let (decoded, cause) = try await receive(coding, by: .bytes) {
            $0.decodingLimits.maximumRatio = nil
            $0.decodingLimits.maximumSize = limit
        }
        #expect(cause == .sizeExceeded)
        #expect(decoded <= limit && decoded > limit - 65_536)
    }

    @Test(arguments: codings) func theLimitOfABodyInMemoryStopsThem(coding: ContentCoding) async throws {
        let (_, cause) = try await receive(coding, by: .data) {
            $0.decodingLimits.maximumRatio = nil
            $0.maximumBodySize = 4_000_000
        }
        #expect(cause == nil)
    }

    /// Returns the number of decoded bytes, and the cause of the error with the code `bodyTooLarge`.
    private func receive(
        _ coding: ContentCoding, by ending: Ending, _ configure: (inout HTTPSession.Configuration) -> Void
    ) async throws -> (decoded: Int64, cause: CompressionError.Code?) {
        let response = MockResponse(
            headerFields: [.contentEncoding: coding.name], body: .stream(EncodedZeros(coding: coding, size: Self.size)))
        return try await withMockServer(response) { server in
            let session = try HTTPSession(baseURL: server.url) {
                $0.contentCodings = [coding]
                configure(&$0)
            }
            let (before, counter) = (try resetPeak(), ByteCounter())
            let error = await #expect(throws: SessionError.self) {
                switch ending {
                case .data: _ = try await session.get("/").data()
                case .bytes:
                    for try await piece in try await session.get("/").bytes().body { counter.add(piece.count) }
                }
            }
            let grown = try processMemory("VmHWM") - before
            print("\(coding), \(ending): the peak grew by \(grown >> 10) KiB")
            if !isSanitized { #expect(grown < 32_000_000) }
            #expect(error?.code == .bodyTooLarge)
            await session.shutdown(.immediate)
            return (counter.count, (error?.underlying as? CompressionError)?.code)
        }
    }

    /// Begins to measure the peak of the process's memory (proc_pid_clear_refs(5)), and returns it.
    private func resetPeak() throws -> Int {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        return try processMemory("VmHWM")
    }
}

private final class ByteCounter: Sendable {
    private let total = Mutex<Int64>(0)

    var count: Int64 { total.withLock { $0 } }

    func add(_ bytes: Int) { total.withLock { $0 += Int64(bytes) } }
}

/// Zeros in a coding, which are encoded as they are read.
private struct EncodedZeros: AsyncSequence, Sendable {
    let coding: ContentCoding
    let size: Int64

    func makeAsyncIterator() -> Iterator { Iterator(coding: coding, left: size) }

    struct Iterator: AsyncIteratorProtocol {
        private static let zeros = Data(count: 1_000_000)

        let coding: ContentCoding
        var left: Int64
        private var encoder: ContentEncoder?

        init(coding: ContentCoding, left: Int64) {
            (self.coding, self.left) = (coding, left)
        }

        mutating func next() async throws -> Data? {
            let encoder = try self.encoder ?? ContentEncoder(coding)
            self.encoder = encoder
            while true {
                if let piece = try encoder.next() { return piece }
                guard left > 0 else { return nil }
                encoder.append(Self.zeros)
                left -= Int64(Self.zeros.count)
                if left <= 0 { encoder.finish() }
            }
        }
    }
}

/// A body that is wanted whole is decoded as it arrives.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct CodedArrivalTests {
    private static let codings: [ContentCoding] = [.gzip, .deflate, .brotli, .zstandard]

    /// The server sends the head and most of a bomb, and then nothing until its client has left.
    @Test(arguments: codings, Version.allCases)
    func aBombIsRefusedAtTheLimit(coding: ContentCoding, version: Version) async throws {
        let bomb = try coding.encoded(Data(count: 64 << 20))
        try await withMockClient(version) {
            $0.contentCodings = [coding]
            $0.retryPolicy = .limited(to: 2)
        } routes: {
            $0.on(
                "/",
                MockResponse(
                    headerFields: [.contentEncoding: coding.name],
                    body: .stream(GatedPieces(pieces: [bomb.dropLast(4), bomb.suffix(4)], gate: Signal()))))
        } perform: { client, server in
            let error = await #expect(throws: SessionError.self) { try await client.get("/").data() }
            #expect(error?.code == .bodyTooLarge)
            #expect((error?.underlying as? CompressionError)?.code == .ratioExceeded)
            #expect(server.recordedRequests.count == 1)
        }
    }

    /// Like a whole body without a coding.
    @Test(arguments: Version.allCases) func aTruncatedBodyIsRequestedAgain(version: Version) async throws {
        let text = (0..<20_000).map { "\($0 * 7919)" }.joined(separator: " ")
        let coded = try ContentCoding.gzip.encoded(Data(text.utf8))
        try await withMockClient(version) {
            $0.retryPolicy = .limited(to: 1)
            $0.retryPolicy.backoff.first = .zero
        } routes: {
            let requests = EventRecorder<Void>()
            $0.on("/") { _ in
                requests.record(())
                let response = MockResponse(headerFields: [.contentEncoding: "gzip"], body: .bytes(coded))
                let isFirst = requests.events.count == 1
                return isFirst ? response.with(MockServer.Fault(.close, at: .responseBody(after: 10_000))) : response
            }
        } perform: { client, server in
            let response = try await client.get("/").response(StringResponseSerializer())
            #expect(response.value == text)
            #expect(response.contentCodings == [.gzip])
            #expect(response.metrics.count == 2)
            #expect(response.metrics.allSatisfy { $0.responseStart != nil })
            #expect(response.metrics.last.map { $0.responseBodyBytes == Int64(coded.count) } == true)
            #expect(server.recordedRequests.count == 2)
        }
    }
}
