import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Each test has a separate process with its own peak of memory; the server is in it, and keeps the client's pace.
@Suite(
    .leavesNothingAlive, .timeLimit(.minutes(5)),
    .enabled(if: !isSanitized, "a sanitizer's own memory hides the transfer's"))
struct FileMemoryTests {
    @Test func aDownloadDoesNotGrowWithTheFile() async {
        await #expect(processExitsWith: .success) {
            let growth = try await Peak.growth { server in
                try await withScratchFolder { folder in
                    let client = try HTTPSession(baseURL: server.url("/"))
                    try await client.get("a").download(to: folder["file"])
                    let size = try FileManager.default.attributesOfItem(atPath: folder["file"].path)[.size] as? Int
                    try #require(size == Peak.size)
                    await client.shutdown()
                }
            }
            try #require(growth < Peak.limit)
        }
    }

    @Test func aSlowReaderHoldsTheServerBack() async {
        await #expect(processExitsWith: .success) {
            let growth = try await Peak.growth { server in
                let session = try HTTPSession()
                var count = 0
                for try await chunk in try await session.call(SessionRequest(url: server.url("/a"))).bytes().body {
                    // Slower than the server by far, and more so without optimization.
                    for byte in chunk where byte == 0 { count += 1 }
                }
                try #require(count == Peak.size)
                await session.shutdown()
            }
            try #require(growth < Peak.limit)
        }
    }

    @Test func anUploadDoesNotGrowWithTheFile() async {
        await #expect(processExitsWith: .success) {
            let growth = try await Peak.growth { server in
                try await withScratchFolder { folder in
                    try Data().write(to: folder["file"])
                    try #require(truncate(folder["file"].path, Peak.size) == 0)
                    let client = try HTTPSession(baseURL: server.url("/"))
                    let response = try await client.call(.post, "a").body(file: folder["file"]).response(
                        JSONResponseSerializer())
                    try #require(response.value == 134_217_728)
                    await client.shutdown()
                }
            }
            try #require(growth < Peak.limit)
        }
    }
}

/// Measures how much a transfer of 128 MiB adds to the most memory that the process ever had.
enum Peak {
    static let size = 128 * 1024 * 1024
    static let limit = 32 * 1024 * 1024

    struct Zeros: AsyncSequence, Sendable {
        struct AsyncIterator: AsyncIteratorProtocol {
            var left = Peak.size
            mutating func next() async throws -> Data? {
                guard left > 0 else { return nil }
                defer { left -= 64 * 1024 }
                return Data(count: 64 * 1024)
            }
        }
        func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    }

    static func growth(_ transfer: (MockServer) async throws -> Void) async throws -> Int {
        let configuration = MockServer.Configuration { $0.requestBodies = .streamed }
        let handler: MockServer.Handler = { request in
            guard request.method == .post else { return MockResponse(body: .stream(Zeros(), length: size)) }
            var count = 0
            do {
                for try await chunk in request.chunks { count += chunk.count }
            } catch {
                count = -1
            }
            return .json("\(count)")
        }
        return try await withMockServer(configuration: configuration, handler: handler) { server in
            // The memory of a first request does not belong to the transfer.
            let session = try HTTPSession()
            var first = try await session.call(SessionRequest(url: server.url("/a"))).bytes().body.makeAsyncIterator()
            _ = try await first.next()
            await session.shutdown(.immediate)
            let before = try processMemory("VmRSS")
            try await transfer(server)
            return try processMemory("VmHWM") - before
        }
    }
}
