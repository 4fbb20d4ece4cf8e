import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

/// Resume data in a file that is kept up to date while the download runs.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ResumeFileTests {
    private static let bytes = makeBytes(2_000_000)

    @Test func theResumeFileExistsOnlyWhileTheDownloadRuns() async throws {
        let source = RangeServer(Self.bytes)
        try await withMockServer(handler: { source.respond(to: $0) }) { server in
            try await withScratchFolder { folder in
                let session = try HTTPSession()
                source.change { $0.fault = (.stall, 1_000_000) }
                let options = DownloadOptions {
                    $0.resumeFile = folder["resume.json"]
                    $0.resumeInterval = .zero
                }
                let task = try session.call(SessionRequest(url: server.url("/large"))).downloadTask(
                    to: folder["file"], options: options)
                let progress = EventRecorder<Int64>()
                task.onProgress { progress.record($0.download.completed) }
                task.resume()
                try await progress.wait { $0.last == 1_000_000 }
                // Like after a kill -9: another process reads the file while the part is still being written.
                let data = try #require(try ResumeData(contentsOf: folder["resume.json"]))
                #expect(data.receivedBytes == 1_000_000)
                #expect(try Data(contentsOf: data.partialFile) == Self.bytes.prefix(1_000_000))

                await session.shutdown(.immediate)
                #expect(await failure(of: task)?.resumeData == data)
                #expect(try ResumeData(contentsOf: folder["resume.json"]) == data)
                source.change { $0.fault = nil }
                let other = try HTTPSession()
                let second = other.call(SessionRequest(url: data.url)).downloadTask(
                    to: folder["file"], resuming: data, options: options)
                second.resume()
                _ = try await second.value
                #expect(second.resumption == .resumed(at: 1_000_000))
                #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
                #expect(folder.names == ["file"])
                await other.shutdown()
            }
        }
    }

    @Test func theResumeFileIsWrittenAtMostOncePerInterval() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(
            transport: StubTransport { _ in .stream(body, headerFields: [.eTag: "\"v1\""]) })
        try await withScratchFolder { folder in
            let options = DownloadOptions {
                $0.resumeFile = folder["resume.json"]
                $0.resumeInterval = .seconds(3600)
            }
            let task = try session.call(makeRequest()).downloadTask(to: folder["file"], options: options)
            let progress = EventRecorder<Int64>()
            task.onProgress { progress.record($0.download.completed) }
            task.resume()
            for count in 1...3 {
                body.send("a")
                try await progress.wait { $0.last == Int64(count) }
            }
            #expect(try ResumeData(contentsOf: folder["resume.json"])?.receivedBytes == 1)
            let data = await task.cancelProducingResumeData()
            #expect(data?.receivedBytes == 3)
            #expect(try ResumeData(contentsOf: folder["resume.json"]) == data)
        }
    }

    @Test func cancellingWithoutResumeDataRemovesTheResumeFile() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(
            transport: StubTransport { _ in .stream(body, headerFields: [.eTag: "\"v1\""]) })
        try await withScratchFolder { folder in
            let options = DownloadOptions { $0.resumeFile = folder["resume.json"] }
            let task = try session.call(makeRequest()).downloadTask(to: folder["file"], options: options)
            let progress = EventRecorder<Int64>()
            task.onProgress { progress.record($0.download.completed) }
            task.resume()
            body.send("a")
            try await progress.wait { $0.last == 1 }
            #expect(folder.names.count == 2)
            task.cancel()
            _ = await failure(of: task)
            #expect(folder.names.isEmpty)
        }
    }

    @Test func anUnwritableResumeFileFailsTheDownload() async throws {
        let session = try HTTPSession(
            transport: StubTransport { _ in .status(200, headerFields: [.eTag: "\"v1\""], body: Data("abc".utf8)) })
        try await withScratchFolder { folder in
            let options = DownloadOptions { $0.resumeFile = folder["missing/resume.json"] }
            let task = try session.call(makeRequest()).downloadTask(to: folder["file"], options: options)
            task.resume()
            #expect(await failure(of: task)?.code == .fileFailed)
        }
    }

    @Test func aMissingFileHasNoResumeData() async throws {
        try await withScratchFolder { folder in
            #expect(try ResumeData(contentsOf: folder["none"]) == nil)
            try folder.write("{", to: "damaged")
            let error = #expect(throws: SessionError.self) { try ResumeData(contentsOf: folder["damaged"]) }
            #expect(error?.code == .invalidResumeData)
        }
    }
}
