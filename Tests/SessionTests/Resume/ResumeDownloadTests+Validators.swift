import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

/// Downloads that can be resumed, and those that cannot.
extension ResumeDownloadTests {
    static let headers: [HTTPFields] = [
        [:], [.eTag: "W/\"v1\""], [.eTag: "\"v1\"", .acceptRanges: "none"],
        [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"],
        [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 08:49:37 GMT"],
    ]

    @Test(arguments: headers)
    func withoutAStrongValidatorThereIsNoResumeData(fields: HTTPFields) async throws {
        try await withRangeServer { source, server, session, folder in
            source.change { $0.fields = fields }
            let data = try await begin(source, server, session, folder)
            #expect(data == nil)
            #expect(folder.names.isEmpty)
        }
    }

    @Test func onlyAGETCanBeResumed() async throws {
        try await withRangeServer { source, server, session, folder in
            let data = try await begin(source, server, session, folder, method: .post)
            #expect(data == nil)
            #expect(folder.names.isEmpty)
        }
    }

    @Test func aLastModifiedFromBeforeIsEnough() async throws {
        try await withRangeServer { source, server, session, folder in
            source.change {
                $0.fields = [
                    .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 08:49:38 GMT",
                ]
            }
            let data = try #require(try await begin(source, server, session, folder))
            #expect(data.entityTag == nil)
            _ = try await session.call(SessionRequest(url: data.url)).download(to: folder["file"], resuming: data)
            #expect(server.recordedRequests.last?.headerFields[.ifRange] == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
        }
    }

    @Test func aTagWithoutQuotesIsEnough() async throws {
        try await withRangeServer { source, server, session, folder in
            source.change { $0.fields = [.eTag: "range3000000"] }
            let data = try #require(try await begin(source, server, session, folder))
            _ = try await session.call(SessionRequest(url: data.url)).download(to: folder["file"], resuming: data)
            #expect(server.recordedRequests.last?.headerFields[.ifRange] == "range3000000")
            #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
        }
    }

    @Test func aTaskThatNeverRanOrHasEndedHasNoResumeData() async throws {
        try await withRangeServer { _, server, session, folder in
            let request = try SessionRequest(url: server.url("/large"))
            let idle = session.call(request).downloadTask(to: folder["a"])
            #expect(await idle.cancelProducingResumeData() == nil)
            let ended = session.call(request).downloadTask(to: folder["b"])
            ended.resume()
            _ = try await ended.value
            #expect(await ended.cancelProducingResumeData() == nil)
            #expect(try Data(contentsOf: folder["b"]) == Self.bytes)
        }
    }

    @Test func theResumeDataComesToACallbackToo() async throws {
        try await withRangeServer { source, server, session, folder in
            source.change { $0.fault = (.stall, Self.stop) }
            let task = try session.call(SessionRequest(url: server.url("/large"))).downloadTask(to: folder["file"])
            let progress = EventRecorder<Int64>()
            task.onProgress { progress.record($0.download.completed) }
            task.resume()
            try await progress.wait { $0.last == Int64(Self.stop) }
            let received = EventRecorder<Int64?>()
            task.cancel { received.record($0?.receivedBytes) }
            #expect(try await received.wait(count: 1) == [Int64(Self.stop)])
        }
    }
}
