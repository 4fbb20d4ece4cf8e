import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ResumeDownloadTests {
    static let bytes = makeBytes(3_000_000)
    /// The place where transfers stop: between two of the server's pieces.
    static let stop = 1_000_000

    /// Runs a test with a server, a session and a folder.
    func withRangeServer(
        _ perform: (RangeServer, MockServer, HTTPSession, ScratchFolder) async throws -> Void
    ) async throws {
        let source = RangeServer(Self.bytes)
        try await withMockServer(handler: { source.respond(to: $0) }) { server in
            try await withScratchFolder { folder in
                let session = try HTTPSession()
                try await perform(source, server, session, folder)
                await session.shutdown(.immediate)
            }
        }
    }

    /// Downloads to `file` until the server stops sending, and cancels.
    func begin(
        _ source: RangeServer, _ server: MockServer, _ session: HTTPSession, _ folder: ScratchFolder,
        method: HTTPRequest.Method = .get
    ) async throws -> ResumeData? {
        source.change { $0.fault = (.stall, Self.stop) }
        let task = session.call(try SessionRequest(url: server.url("/large?v=1"), method: method)).downloadTask(
            to: folder["file"])
        let progress = EventRecorder<Int64>()
        task.onProgress { progress.record($0.download.completed) }
        task.resume()
        try await progress.wait { $0.last == Int64(Self.stop) }
        let data = await task.cancelProducingResumeData()
        #expect(task.error?.code == .cancelled)
        #expect(task.state == .completed)
        source.change { $0.fault = nil }
        return data
    }

    /// The server ignores If-Range, and sends the rest of another version. Its tag differs in an octet that is not
    /// UTF-8.
    @Test func versionsWhoseTagsDifferInAnOctetAreNotMerged() async throws {
        try await withRangeServer { source, server, session, folder in
            let tag = { @Sendable (octet: UInt8) in HTTPField(name: .eTag, value: [0x22, octet, 0x22]) }
            source.change { $0.fields[fields: .eTag] = [tag(0xE9)] }
            let data = try #require(try await begin(source, server, session, folder))
            #expect(data.entityTag == "\"\u{e9}\"")
            let decoded = try ResumeData(decoding: data.encoded())
            let other = Data(Self.bytes.reversed())
            source.change { state in
                state.bytes = other
                state.fields[fields: .eTag] = [tag(0xE8)]
                state.habit = .ignoresIfRange
            }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: decoded)
            task.resume()
            _ = try await task.value
            #expect(task.resumption == .startedOver(.entityChanged))
            #expect(try Data(contentsOf: folder["file"]) == other)
        }
    }

    @Test func aCancelledDownloadResumesFromItsPart() async throws {
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            #expect(data.receivedBytes == Int64(Self.stop))
            #expect(data.totalBytes == Int64(Self.bytes.count))
            #expect(data.entityTag == "\"v1\"")
            let url = try server.url("/large?v=1")
            #expect(data.url == url)
            #expect(folder.names == [data.partialFile.lastPathComponent])

            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            let hooked = EventRecorder<TransferProgress>()
            var hooks = TaskHooks()
            hooks.didResumeDownload = { context, progress in
                #expect(context.kind == .download)
                hooked.record(progress)
            }
            hooks.didWriteDownload = { _, _, progress in hooked.record(progress) }
            task.hooks = hooks
            let progress = EventRecorder<TransferProgress>()
            task.onProgress { progress.record($0.download) }
            task.resume()
            let response = try await task.value
            #expect(response.head.status == .partialContent)
            #expect(task.resumption == .resumed(at: Int64(Self.stop)))
            #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
            #expect(folder.names == ["file"])
            let request = try #require(server.recordedRequests.last)
            #expect(request.headerFields[.range] == "bytes=\(Self.stop)-")
            #expect(request.headerFields[.ifRange] == "\"v1\"")
            #expect(response.metrics.last?.responseBodyBytes == Int64(Self.bytes.count - Self.stop))
            // It is told once, before the first of the new bytes.
            let told = try await hooked.wait { $0.last?.isFinished == true }
            #expect(told.first == TransferProgress(completed: Int64(Self.stop), total: Int64(Self.bytes.count)))
            #expect(told.count > 1 && told.dropFirst().allSatisfy { $0.completed > Int64(Self.stop) })
            // AFNetworking's first progress after a resumption was wrong.
            let all = try await progress.wait { $0.last?.isFinished == true }
            let begun = all.drop { $0.completed == 0 }
            #expect(!begun.isEmpty)
            #expect(begun.allSatisfy { $0.completed >= Self.stop && $0.total == Int64(Self.bytes.count) })
            #expect(all.map(\.completed) == all.map(\.completed).sorted())
        }
    }

    @Test func theResumeDataGoesThroughBytesAndAnotherSession() async throws {
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            let read = try ResumeData(decoding: data.encoded())
            #expect(read == data)
            let other = try HTTPSession()
            let response = try await other.call(SessionRequest(url: read.url)).download(
                to: folder["other"], resuming: read)
            #expect(response.head.status == .partialContent)
            #expect(try Data(contentsOf: folder["other"]) == Self.bytes)
            #expect(folder.names == ["other"])
            await other.shutdown()
        }
    }

    @Test func aNewURLCanBeGiven() async throws {
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            var request = try SessionRequest(url: server.url("/moved?signature=2"))
            request.headerFields[.authorization] = "Bearer t"
            let task = session.call(request).downloadTask(into: folder.url, resuming: data)
            task.resume()
            #expect(try await task.value.value.lastPathComponent == "moved")
            #expect(try Data(contentsOf: folder["moved"]) == Self.bytes)
            let recorded = try #require(server.recordedRequests.last)
            #expect(recorded.target == "/moved?signature=2")
            #expect(recorded.headerFields[.authorization] == "Bearer t")
            #expect(recorded.headerFields[.range] == "bytes=\(Self.stop)-")
        }
    }

    @Test func thePlaceOfAResumedDownloadCanBeChosen() async throws {
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            let options = DownloadOptions { $0.permissions = 0o640 }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(resuming: data, options: options) {
                _, _ in
                folder["chosen"]
            }
            task.resume()
            _ = try await task.value
            #expect(try Data(contentsOf: folder["chosen"]) == Self.bytes)
            let attributes = try FileManager.default.attributesOfItem(atPath: folder["chosen"].path)
            #expect(attributes[.posixPermissions] as? Int == 0o640)
        }
    }

    // MARK: Answers of the server

    @Test func aChangedEntityStartsOver() async throws {
        let changed = makeBytes(2_000_000, seed: 2)
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            source.change {
                $0.bytes = changed
                $0.fields[.eTag] = "\"v2\""
            }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            task.resume()
            #expect(try await task.value.head.status == .ok)
            #expect(task.resumption == .startedOver(.entityChanged))
            #expect(try Data(contentsOf: folder["file"]) == changed)
            #expect(folder.names == ["file"])
        }
    }

    @Test func aChangedEntityIsDetectedEvenWithoutIfRange() async throws {
        let changed = makeBytes(2_000_000, seed: 2)
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            source.change {
                $0.bytes = changed
                $0.fields[.eTag] = "\"v2\""
                $0.habit = .ignoresIfRange
            }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            task.resume()
            #expect(try await task.value.head.status == .ok)
            #expect(task.resumption == .startedOver(.entityChanged))
            #expect(try Data(contentsOf: folder["file"]) == changed)
            #expect(server.recordedRequests.last?.headerFields[.range] == nil)
            #expect(folder.names == ["file"])
        }
    }

    @Test func anotherLengthIsAnotherEntity() async throws {
        let changed = makeBytes(2_000_000, seed: 2)
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            source.change {
                $0.bytes = changed
                $0.fields = [:]
                $0.habit = .ignoresIfRange
            }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            task.resume()
            _ = try await task.value
            #expect(task.resumption == .startedOver(.entityChanged))
            #expect(try Data(contentsOf: folder["file"]) == changed)
        }
    }

    @Test func anotherLengthIsAnotherEntityDespiteItsTag() async throws {
        let changed = makeBytes(Self.bytes.count + 1, seed: 2)
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            source.change { $0.bytes = changed }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            task.resume()
            #expect(try await task.value.head.status == .ok)
            #expect(task.resumption == .startedOver(.entityChanged))
            #expect(try Data(contentsOf: folder["file"]) == changed)
            #expect(server.recordedRequests.map(\.headerFields[.range]).suffix(2) == ["bytes=\(Self.stop)-", nil])
        }
    }

    @Test func aServerWithoutRangesSendsTheWholeEntity() async throws {
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            source.change { $0.habit = .ignoresRange }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            task.resume()
            _ = try await task.value
            #expect(task.resumption == .startedOver(.rangesIgnored))
            #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
            #expect(folder.names == ["file"])
        }
    }

    @Test func aRangeBehindTheEndStartsOver() async throws {
        let changed = makeBytes(10, seed: 2)
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            source.change {
                $0.bytes = changed
                $0.habit = .ignoresIfRange
            }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            task.resume()
            _ = try await task.value
            #expect(task.resumption == .startedOver(.rangeNotSatisfiable))
            #expect(try Data(contentsOf: folder["file"]) == changed)
            #expect(folder.names == ["file"])
        }
    }

    /// The validators of a part of another version with the same length: not the ones in If-Range.
    static let otherVersions: [(first: HTTPFields, part: HTTPFields)] = [
        ([.eTag: "\"v1\""], [.eTag: "\"v2\""]), ([.eTag: "\"v1\""], [:]), ([.eTag: "\"v1\""], [.eTag: "W/\"v1\""]),
        ([.eTag: "\"v1\""], [.eTag: "v1"]), ([.eTag: "\"v1\"", .lastModified: dates.0], [.lastModified: dates.0]),
        ([.lastModified: dates.0, .date: dates.1], [.lastModified: dates.1]),
        ([.lastModified: dates.0, .date: dates.1], [.date: dates.1]),
        ([.lastModified: dates.0, .date: dates.1], [.eTag: "\"v1\""]),
    ]

    static let dates = ("Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:39 GMT")

    @Test(arguments: otherVersions)
    func aPartOfAnotherVersionOfTheSameLengthIsNeverAppended(first: HTTPFields, part: HTTPFields) async throws {
        let changed = makeBytes(Self.bytes.count, seed: 2)
        try await withRangeServer { source, server, session, folder in
            source.change { $0.fields = first }
            let data = try #require(try await begin(source, server, session, folder))
            source.change {
                $0.bytes = changed
                $0.fields = part
                $0.habit = .ignoresIfRange
            }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            task.resume()
            #expect(try await task.value.head.status == .ok)
            #expect(task.resumption == .startedOver(.entityChanged))
            #expect(try Data(contentsOf: folder["file"]) == changed)
            #expect(folder.names == ["file"])
        }
    }

    static let wrongParts: [HTTPFields] = [
        [.contentRange: "bytes 0-99/3000000"], [.contentRange: "bytes 999999-1000098/3000000"], [:],
        [.contentRange: "bytes 1000000-1000098/3000000"], [.contentRange: "items 1000000-1000099/3000000"],
        [.contentType: "multipart/byteranges; boundary=x"], [.contentRange: "bytes */3000000"],
    ]

    @Test(arguments: wrongParts)
    func anUnrequestedPartFails(fields: HTTPFields) async throws {
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            var fields = fields
            fields[.eTag] = data.entityTag
            source.change { [fields] in
                $0.habit = .answers(
                    MockResponse(status: .partialContent, headerFields: fields, body: .bytes(Data(count: 100))))
            }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            task.resume()
            let error = await failure(of: task)
            #expect(error?.code == .invalidResponse)
            #expect(error?.resumeData == data)
            #expect(task.resumption == nil)
            source.change { $0.habit = .followsTheRules }
            _ = try await session.call(SessionRequest(url: data.url)).download(to: folder["file"], resuming: data)
            #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
        }
    }

    @Test func anErrorLeavesThePart() async throws {
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            source.change { $0.habit = .answers(.text("expired", status: .forbidden)) }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            task.resume()
            let error = await failure(of: task)
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.body == Data("expired".utf8))
            #expect(error?.resumeData == data)
            #expect(folder.names == [data.partialFile.lastPathComponent])
        }
    }

    // MARK: Failures

    @Test func aDownloadCompletesAfterManyInterruptions() async throws {
        try await withRangeServer { source, server, session, folder in
            source.change { $0.fault = (.close, 700_000) }
            let options = DownloadOptions { $0.keepsPart = true }
            let request = try SessionRequest(url: server.url("/large"))
            var data: ResumeData?
            var offsets: [Int64] = []
            while true {
                let task =
                    if let data {
                        session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
                    } else {
                        session.call(request).downloadTask(to: folder["file"], options: options)
                    }
                task.resume()
                guard let error = await failure(of: task) else { break }
                #expect(error.code == .connectionLost)
                guard let kept = error.resumeData else {
                    Issue.record("nothing was kept")
                    break
                }
                data = kept
                offsets.append(kept.receivedBytes)
                #expect(folder.names.count == 1)
            }
            #expect(offsets == offsets.sorted() && Set(offsets).count == offsets.count)
            #expect(offsets.count >= 4)
            #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
            #expect(folder.names == ["file"])
        }
    }

    @Test func theAsyncSurfaceKeepsThePartOnRequest() async throws {
        try await withRangeServer { source, server, session, folder in
            source.change { $0.fault = (.close, 700_000) }
            let request = try SessionRequest(url: server.url("/large"))
            let lost = await Result { () async throws(SessionError) in
                try await session.call(request).download(to: folder["file"])
            }
            #expect(lost.error?.resumeData == nil)
            #expect(folder.names.isEmpty)
            let options = DownloadOptions { $0.keepsPart = true }
            let kept = await Result { () async throws(SessionError) in
                try await session.call(request).download(to: folder["file"], options: options)
            }
            let data = try #require(kept.error?.resumeData)
            source.change { $0.fault = nil }
            _ = try await session.call(SessionRequest(url: data.url)).download(to: folder["file"], resuming: data)
            #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
        }
    }

    /// The digest is of the bytes that were received, whatever has happened to the file since.
    @Test func aKeptPartThatChangedBeforeTheFailureIsNotResumed() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(
            transport: StubTransport { request in
                if request.index == 0 { return .stream(body, headerFields: [.eTag: "\"v1\"", .contentLength: "6"]) }
                return .status(
                    206, headerFields: [.eTag: "\"v1\"", .contentRange: "bytes 3-5/6"], body: Data("def".utf8))
            })
        try await withScratchFolder { folder in
            let options = DownloadOptions { $0.keepsPart = true }
            let task = try session.call(makeRequest()).downloadTask(to: folder["file"], options: options)
            let progress = EventRecorder<Int64>()
            task.onProgress { progress.record($0.download.completed) }
            task.resume()
            body.send("abc")
            try await progress.wait { $0.last == 3 }
            try Data("xbc".utf8).write(to: folder[try #require(folder.names.first)])
            body.fail(TransportError(.readTimeout, "Too slow."))
            let data = try #require(await failure(of: task)?.resumeData)
            let second = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            second.resume()
            #expect(await failure(of: second)?.code == .invalidResumeData)
        }
    }

    @Test func cancellingWithoutResumeDataLeavesNothing() async throws {
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            source.change { $0.fault = (.stall, 500_000) }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            let progress = EventRecorder<Int64>()
            task.onProgress { progress.record($0.download.completed) }
            task.resume()
            try await progress.wait { ($0.last ?? 0) > Self.stop }
            task.cancel()
            let error = await failure(of: task)
            #expect(error?.code == .cancelled)
            #expect(error?.resumeData == nil)
            #expect(folder.names.isEmpty)
        }
    }

    @Test func aCompletePartIsNotSentAgain() async throws {
        try await withRangeServer { source, server, session, folder in
            try folder.write("in the way", to: "file")
            let options = DownloadOptions {
                $0.keepsPart = true
                $0.existingFile = .fail
            }
            let made = Signal()
            source.change { $0.fault = (.delay(.milliseconds(1)), 10) }
            let task = try session.call(SessionRequest(url: server.url("/large"))).downloadTask(options: options) {
                _, _ in
                made.fire()
                return folder["file"]
            }
            task.resume()
            let data = try #require(await failure(of: task)?.resumeData)
            #expect(data.receivedBytes == data.totalBytes)
            source.change { $0.fault = nil }
            let response = try await session.call(SessionRequest(url: data.url)).download(
                to: folder["second"], resuming: data)
            #expect(response.metrics.last?.responseBodyBytes == 1)
            #expect(try Data(contentsOf: folder["second"]) == Self.bytes)
            #expect(folder.names == ["file", "second"])
        }
    }
}
