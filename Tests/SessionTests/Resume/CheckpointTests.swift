import FoundationEssentials
import HTTPTypes
import LinnetSession
import LinnetTesting
import Testing

/// Resume files that are written beside the download.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct CheckpointTests {
    private static let bytes = makeBytes(2_000_000)

    @Test func anInterruptedDownloadGoesOnWithAllItsBytes() async throws {
        let source = RangeServer(Self.bytes)
        try await withMockServer(handler: { source.respond(to: $0) }) { server in
            try await withScratchFolder { folder in
                let session = try HTTPSession()
                source.change { $0.fault = (.stall, 1_000_000) }
                let options = Self.options(folder, interval: .zero)
                let task = try session.call(SessionRequest(url: server.url("/large"))).downloadTask(
                    to: folder["file"], options: options)
                let progress = EventRecorder<Int64>()
                task.onProgress { progress.record($0.download.completed) }
                task.resume()
                try await progress.wait { $0.last == 1_000_000 }
                // Like after a kill -9: another process reads the file while the part is still being written.
                let data = try #require(try ResumeData(contentsOf: folder["resume.json"]))
                #expect(data.receivedBytes > 0)
                #expect(data.extendedToWholePart().receivedBytes == 1_000_000)

                await session.shutdown(.immediate)
                #expect(await failure(of: task)?.resumeData?.receivedBytes == 1_000_000)
                // Few bytes are digested at the end too.
                #expect(try ResumeData(contentsOf: folder["resume.json"])?.receivedBytes == 1_000_000)
                source.change { $0.fault = nil }
                let other = try HTTPSession()
                let second = other.call(SessionRequest(url: data.url)).downloadTask(
                    to: folder["file"], resuming: data.extendedToWholePart(), options: options)
                second.resume()
                _ = try await second.value
                #expect(second.resumption == .resumed(at: 1_000_000))
                #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
                #expect(folder.names == ["file"])
                await other.shutdown()
            }
        }
    }

    @Test func bytesWithoutADigestAreNotStored() async throws {
        try await withInterruptedDownload { folder, data in
            #expect(data.receivedBytes == 1)
            let extended = data.extendedToWholePart()
            #expect(extended.receivedBytes == 3)
            #expect(try ResumeData(decoding: extended.encoded()) == data)
            // The part is used after them nevertheless.
            let session = try HTTPSession(
                transport: StubTransport { request in
                    #expect(request.head.headerFields[.range] == "bytes=3-")
                    return .status(
                        206, headerFields: [.eTag: "\"v1\"", .contentRange: "bytes 3-4/5"], body: Data("de".utf8))
                })
            _ = try await session.call(makeRequest()).download(to: folder["file"], resuming: extended)
            #expect(try Data(contentsOf: folder["file"]) == Data("abcde".utf8))
        }
    }

    @Test func aChangedPartIsRefused() async throws {
        try await withInterruptedDownload { folder, data in
            try Data("xbc".utf8).write(to: data.partialFile)
            let session = try HTTPSession(
                transport: StubTransport { _ in
                    .status(206, headerFields: [.eTag: "\"v1\"", .contentRange: "bytes 3-4/5"], body: Data("de".utf8))
                })
            let task = try session.call(makeRequest()).downloadTask(
                to: folder["file"], resuming: data.extendedToWholePart())
            task.resume()
            #expect(await failure(of: task)?.code == .invalidResumeData)
        }
    }

    private static func options(_ folder: ScratchFolder, interval: Duration) -> DownloadOptions {
        DownloadOptions {
            $0.resumeFile = folder["resume.json"]
            $0.resumeInterval = interval
            $0.makesCheckpoints = true
        }
    }

    /// Performs a test with the resume file of a download that has digested one of three bytes.
    private func withInterruptedDownload(_ perform: (ScratchFolder, ResumeData) async throws -> Void) async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(
            transport: StubTransport { _ in .stream(body, headerFields: [.eTag: "\"v1\""]) })
        try await withScratchFolder { folder in
            let task = try session.call(makeRequest()).downloadTask(
                to: folder["file"], options: Self.options(folder, interval: .seconds(3600)))
            let progress = EventRecorder<Int64>()
            task.onProgress { progress.record($0.download.completed) }
            task.resume()
            for (count, text) in ["a", "b", "c"].enumerated() {
                body.send(text)
                try await progress.wait { $0.last == Int64(count + 1) }
            }
            let copy = try Data(contentsOf: folder["resume.json"])
            _ = await task.cancelProducingResumeData()
            try await perform(folder, try ResumeData(decoding: copy))
        }
    }
}
