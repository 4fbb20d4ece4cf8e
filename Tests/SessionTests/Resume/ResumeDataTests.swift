import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ResumeDataTests {
    static let bytes = makeBytes(300_000)

    /// Resume data of a part that lies in a folder.
    private func makeData(_ folder: ScratchFolder, count: Int = 100_000, total: Int64? = 300_000) throws -> ResumeData {
        let part = folder[".part"]
        try Self.bytes.prefix(count).write(to: part)
        let digest = try SystemFile.digest(of: part.path, upTo: Int64(count))
        return ResumeData(
            url: try #require(URL(string: "http://example.com/x?sig=1")), entityTag: "\"v1\"", lastModified: nil,
            partialFile: part, receivedBytes: Int64(count), totalBytes: total, digest: digest)
    }

    private func makeSession() throws -> HTTPSession {
        try HTTPSession(
            transport: StubTransport { request in
                let first = Int(request.head.headerFields[.range]?.dropFirst(6).dropLast() ?? "") ?? 0
                return .status(
                    206,
                    headerFields: [
                        .eTag: "\"v1\"", .contentRange: "bytes \(first)-\(Self.bytes.count - 1)/\(Self.bytes.count)",
                    ], body: Self.bytes.dropFirst(first))
            })
    }

    @Test func aDownloadResumesFromItsPart() async throws {
        try await withScratchFolder { folder in
            let data = try makeData(folder)
            _ = try await makeSession().call(SessionRequest(url: data.url)).download(to: folder["file"], resuming: data)
            #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
            #expect(folder.names == ["file"])
        }
    }

    /// The response has no Content-Length, as with chunked coding and HTTP/2.
    @Test(arguments: [1, 1_000_000])
    func aRestThatIsLongerThanItsRangeIsRefused(extra: Int) async throws {
        try await withScratchFolder { folder in
            let data = try makeData(folder)
            let session = try HTTPSession(
                transport: StubTransport { _ in
                    .status(
                        206, headerFields: [.eTag: "\"v1\"", .contentRange: "bytes 100000-299999/300000"],
                        body: Self.bytes.dropFirst(100_000) + Data(count: extra))
                })
            let error = await #expect(throws: SessionError.self) {
                try await session.call(SessionRequest(url: data.url)).download(to: folder["file"], resuming: data)
            }
            #expect(error?.code == .invalidResponse)
            #expect(!folder.names.contains("file"))
        }
    }

    @Test func discardingRemovesAFileAndLeavesAFolder() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-discard-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let part = folder.appending(path: "part")
        try Data("x".utf8).write(to: part)
        let url = try #require(URL(string: "http://example.com/x"))
        for place in [folder, part] {
            ResumeData(
                url: url, entityTag: "\"v1\"", lastModified: nil, partialFile: place, receivedBytes: 1, totalBytes: nil,
                digest: ""
            ).discard()
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    /// After a `kill -9` the part has more than the resume data knows of.
    @Test func bytesAfterThePartAreRemoved() async throws {
        try await withScratchFolder { folder in
            let data = try makeData(folder)
            try (Self.bytes.prefix(100_000) + Data("garbage".utf8)).write(to: data.partialFile)
            _ = try await makeSession().call(SessionRequest(url: data.url)).download(to: folder["file"], resuming: data)
            #expect(try Data(contentsOf: folder["file"]) == Self.bytes)
        }
    }

    static let damages: [(name: String, damage: @Sendable (URL) throws -> Void)] = [
        ("is gone", { try FileManager.default.removeItem(at: $0) }),
        ("is shorter than the received part", { try bytes.prefix(99_999).write(to: $0) }),
        (
            "has changed since the download was interrupted",
            {
                var other = bytes.prefix(100_000)
                other[50_000] ^= 1
                try other.write(to: $0)
            }
        ),
        (
            "is a folder",
            {
                try FileManager.default.removeItem(at: $0)
                try FileManager.default.createDirectory(at: $0, withIntermediateDirectories: false)
            }
        ),
        (
            "is a link",
            {
                let other = $0.deletingLastPathComponent().appending(path: "other")
                try FileManager.default.moveItem(at: $0, to: other)
                try FileManager.default.createSymbolicLink(at: $0, withDestinationURL: other)
            }
        ),
    ]

    @Test(arguments: damages.indices)
    func aChangedPartIsRefused(index: Int) async throws {
        try await withScratchFolder { folder in
            let data = try makeData(folder)
            try Self.damages[index].damage(data.partialFile)
            let before = folder.names
            let task = try makeSession().call(SessionRequest(url: data.url)).downloadTask(
                to: folder["file"], resuming: data)
            task.resume()
            let error = await failure(of: task)
            #expect(error?.code == .invalidResumeData, "\(Self.damages[index].name)")
            #expect(error?.fileFailure?.path == data.partialFile.path)
            #expect(error?.resumeData == nil)
            #expect(folder.names == before)
        }
    }

    @Test func aPartInUseIsRefused() async throws {
        try await withScratchFolder { folder in
            let data = try makeData(folder)
            let opened = try PartialFile.reopen(data, finalPath: folder["file"].path)
            let task = try makeSession().call(SessionRequest(url: data.url)).downloadTask(
                to: folder["file"], resuming: data)
            task.resume()
            #expect(await failure(of: task)?.code == .invalidResumeData)
            opened.file.leave()
            _ = try await makeSession().call(SessionRequest(url: data.url)).download(to: folder["file"], resuming: data)
        }
    }

    // MARK: Its bytes

    @Test func resumeDataSurvivesCoding() async throws {
        try await withScratchFolder { folder in
            for total in [nil, 300_000, 100_000] as [Int64?] {
                let data = try makeData(folder, total: total)
                #expect(try ResumeData(decoding: data.encoded()) == data)
                #expect(try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(data)) == data)
            }
        }
    }

    static let changes: [(field: String, value: JSONValue)] = [
        ("version", 2), ("version", "1"), ("url", "http://example.com/y"), ("url", 1), ("entityTag", "\"v2\""),
        ("lastModified", "Sun, 06 Nov 1994 08:49:37 GMT"), ("partialFile", "/etc/passwd"), ("receivedBytes", 99_999),
        ("receivedBytes", 0), ("receivedBytes", -1), ("receivedBytes", 400_000), ("totalBytes", 300_001),
        ("totalBytes", .null), ("digest", ""), ("digest", "00"), ("seal", ""), ("seal", .null),
        ("digest", .string(String(repeating: "0", count: 64))),
    ]

    @Test func aMissingFieldIsSealedDifferentlyFromADash() throws {
        let url = try #require(URL(string: "http://example.com/x"))
        let seals = [nil, "-", "1:-"].map { tag in
            ResumeData(
                url: url, entityTag: tag, lastModified: "Mon, 21 Oct 2013 20:13:21 GMT",
                partialFile: URL(filePath: "/part"), receivedBytes: 1, totalBytes: nil,
                digest: String(repeating: "0", count: 64)
            ).seal
        }
        #expect(Set(seals).count == 3)
    }

    @Test(arguments: changes)
    func aChangedFieldIsDetected(field: String, value: JSONValue) async throws {
        try await withScratchFolder { folder in
            let data = try makeData(folder)
            var object = try JSONDecoder().decode([String: JSONValue].self, from: data.encoded())
            object[field] = value
            let changed = try JSONEncoder().encode(object)
            let error = #expect(throws: SessionError.self) { try ResumeData(decoding: changed) }
            #expect(error?.code == .invalidResumeData)
        }
    }

    @Test(arguments: ["", "{}", "[]", "null", "{\"version\": 1}", "\u{0}\u{1}"])
    func otherBytesAreRefused(text: String) {
        let error = #expect(throws: SessionError.self) { try ResumeData(decoding: Data(text.utf8)) }
        #expect(error?.code == .invalidResumeData)
    }

    @Test func discardingRemovesThePart() async throws {
        try await withScratchFolder { folder in
            try makeData(folder).discard()
            #expect(folder.names.isEmpty)
        }
    }

    // MARK: Fields of HTTP

    static let ranges: [(text: String, bytes: ClosedRange<Int64>?, complete: Int64?)] = [
        ("bytes 0-0/1", 0...0, 1), ("bytes 5-9/10", 5...9, 10), ("Bytes 5-9/*", 5...9, nil),
        ("bytes */10", nil, 10), ("bytes  5-9/10", 5...9, 10),
    ]

    @Test(arguments: ranges)
    func contentRangesAreRead(text: String, bytes: ClosedRange<Int64>?, complete: Int64?) {
        #expect(ContentRange(text)?.bytes == bytes)
        #expect(ContentRange(text)?.complete == complete)
    }

    @Test(arguments: [
        "", "bytes", "bytes 5-9", "bytes 9-5/10", "bytes 5-10/10", "items 5-9/10", "bytes */*", "bytes -5/10",
        "bytes 5-/10", "bytes 5-9/-1", "bytes 5-9/10 x", "bytes +5-9/10", "bytes 5-9/99999999999999999999",
        "bytes 0-9223372036854775807/*",
    ])
    func otherTextsAreNoContentRange(text: String) {
        #expect(ContentRange(text) == nil)
    }
}
