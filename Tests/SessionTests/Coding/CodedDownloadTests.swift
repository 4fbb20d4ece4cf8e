import FoundationEssentials
import HTTPTypes
import LinnetCompression
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

@Suite("Downloads with content codings", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct CodedDownloadTests {
    private let content = Data(longText.utf8)

    @Test(arguments: Version.allCases) func aDownloadIsDecoded(version: Version) async throws {
        let response = try MockResponse.coded(content, [.gzip], [.eTag: "\"v1\"", .acceptRanges: "bytes"])
        try await withMockClient(version, routes: { $0.on("/a", response) }) { session, server in
            try await withScratchFolder { folder in
                let saved = try await session.get("/a").download(to: folder["file"])
                #expect(try Data(contentsOf: saved.value) == content)
                #expect(saved.contentCodings == [.gzip])
                #expect(server.recordedRequests.map { $0.headerFields[.acceptEncoding] } == ["gzip, deflate"])
            }
        }
    }

    /// A part of the decoded bytes could not be continued with coded ones.
    @Test func aDownloadThatMayBeResumedAsksForNoCoding() async throws {
        try await withMockClient(routes: { $0.on("/a", .text("a")) }) { session, server in
            try await withScratchFolder { folder in
                let task = session.get("/a").downloadTask(to: folder["one"])
                task.resume()
                _ = try await task.value
                _ = try await session.get("/a").download(
                    to: folder["two"], options: DownloadOptions { $0.keepsPart = true })
                _ = try await session.get("/a").header(.acceptEncoding, "br").download(
                    to: folder["three"], options: DownloadOptions { $0.keepsPart = true })
                #expect(
                    server.recordedRequests.map { $0.headerFields[.acceptEncoding] } == ["identity", "identity", "br"])
            }
        }
    }

    @Test func aCodedDownloadIsDecodedAndHasNoResumeData() async throws {
        let bytes = makeBytes(1_000_000)
        let response = try MockResponse.coded(bytes, [.gzip], [.eTag: "\"v1\"", .acceptRanges: "bytes"])
        try await withMockClient(routes: {
            $0.on("/whole", response)
            $0.on("/stalls", response.with(MockServer.Fault(.stall, at: .responseBody(after: 500_000))))
        }) { session, _ in
            try await withScratchFolder { folder in
                let whole = session.get("/whole").downloadTask(to: folder["whole"])
                let progress = EventRecorder<TransferProgress>()
                whole.onProgress { progress.record($0.download) }
                whole.resume()
                #expect(try await whole.value.contentCodings == [.gzip])
                #expect(try Data(contentsOf: folder["whole"]) == bytes)
                // Progress counts decoded bytes. Their number is unknown before.
                try await progress.wait { $0.last?.completed == 1_000_000 }
                #expect(progress.events.allSatisfy { ($0.total ?? 1_000_000) == 1_000_000 })
                let stalled = session.get("/stalls").downloadTask(to: folder["stalled"])
                let begun = EventRecorder<Int64>()
                stalled.onProgress { begun.record($0.download.completed) }
                stalled.resume()
                try await begun.wait { ($0.last ?? 0) > 100_000 }
                #expect(await stalled.cancelProducingResumeData() == nil)
                #expect(folder.names == ["whole"])
            }
        }
    }

    /// The rest of coded bytes cannot follow a part without codings.
    @Test func aCodedRestStartsOver() async throws {
        let source = RangeServer(ResumeDownloadTests.bytes)
        try await withMockServer(handler: { source.respond(to: $0) }) { server in
            try await withScratchFolder { folder in
                let session = try HTTPSession()
                source.change { $0.fault = (.stall, ResumeDownloadTests.stop) }
                let task = session.call(SessionRequest(url: try server.url("/large"))).downloadTask(to: folder["file"])
                let begun = EventRecorder<Int64>()
                task.onProgress { begun.record($0.download.completed) }
                task.resume()
                try await begun.wait { $0.last == Int64(ResumeDownloadTests.stop) }
                let data = try #require(await task.cancelProducingResumeData())
                let rest = "bytes \(ResumeDownloadTests.stop)-2999999/3000000"
                source.change {
                    $0.fault = nil
                    $0.habit = .answers(
                        .claiming(
                            "gzip", Data(count: 2_000_000), [.eTag: "\"v1\"", .contentRange: rest],
                            status: .partialContent))
                }
                let saved = try await session.call(SessionRequest(url: data.url)).download(
                    to: folder["file"], resuming: data)
                #expect(try Data(contentsOf: saved.value) == ResumeDownloadTests.bytes)
                #expect(
                    server.recordedRequests.map { $0.headerFields[.acceptEncoding] } == [
                        "identity", "identity", "identity",
                    ])
                await session.shutdown(.immediate)
            }
        }
    }
}
