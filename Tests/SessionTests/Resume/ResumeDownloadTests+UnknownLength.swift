import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

// Ranges that do not say how long the entity is.
extension ResumeDownloadTests {
    /// RFC 9110, section 15.3.7: the range may be less than the rest, so the file could end early.
    @Test(arguments: [nil, "bytes 1000000-1000999/*"] as [String?])
    func aRangeOfAnUnknownLengthStartsOver(range: String?) async throws {
        try await withRangeServer { source, server, session, folder in
            source.change { $0.declaresLength = false }
            let data = try #require(try await begin(source, server, session, folder))
            #expect(data.receivedBytes == Int64(Self.stop) && data.totalBytes == nil)
            if let range { source.change { $0.habit = .answers(Self.part(range)) } }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            task.resume()
            #expect(try await task.value.head.status == .ok)
            #expect(task.resumption == .startedOver(.lengthUnknown))
            #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
            #expect(folder.names == ["file"])
        }
    }

    /// The first response had a Content-Length.
    @Test(arguments: [("bytes 1000000-2999999/*", true), ("bytes 1000000-1000999/*", false)])
    func aRangeWithoutTheKnownLengthIsAppended(range: String, isAll: Bool) async throws {
        try await withRangeServer { source, server, session, folder in
            let data = try #require(try await begin(source, server, session, folder))
            source.change { $0.habit = .answers(Self.part(range)) }
            let task = session.call(SessionRequest(url: data.url)).downloadTask(to: folder["file"], resuming: data)
            task.resume()
            let error = await failure(of: task)
            #expect(task.resumption == .resumed(at: Int64(Self.stop)))
            if isAll {
                #expect(error == nil)
                #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
            } else {
                #expect(error?.code == .connectionLost)
                #expect(error?.resumeData?.receivedBytes == Int64(Self.stop) + 1000)
            }
        }
    }

    /// Bytes of the entity with this Content-Range.
    private static func part(_ range: String) -> MockResponse {
        let ends = range.dropFirst("bytes ".count).split { "-/".contains($0) }.prefix(2).compactMap { Int($0) }
        return MockResponse(
            status: .partialContent, headerFields: [.eTag: "\"v1\"", .contentRange: range],
            body: .bytes(bytes.dropFirst(ends[0]).prefix(ends[1] - ends[0] + 1)))
    }
}
