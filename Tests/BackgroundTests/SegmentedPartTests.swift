import CommandSupport
import FoundationEssentials
import LinnetSession
import Testing

@testable import LinnetBackground

/// The part of a download in segments, and its side files.
@Suite(.timeLimit(.minutes(1)))
struct SegmentedPartTests {
    /// A process that is killed leaves the offsets of all bytes that it has counted.
    @Test func bytesWhoseOffsetIsNotStoredAreNotCounted() async throws {
        await #expect(processExitsWith: .success) {
            try await withFolder { folder in
                let place = try BackgroundFolder(sessionFolder(folder))
                try place.prepare()
                let path = folder.appending(path: "part").path
                try Data(count: 4 << 20).write(to: URL(filePath: path))
                let fields = Data(#"{"entityTag": "\"v1\"", "total": 4194304}"#.utf8)
                let record = SegmentRecord(
                    url: "http://127.0.0.1/file", entity: try JSONDecoder().decode(SegmentedEntity.self, from: fields),
                    part: path, state: try #require(FileState(path: path)),
                    map: try #require(SegmentMap(total: 4 << 20, count: 2)))
                let part = try SegmentedPart(record, of: try #require(BackgroundTask.ID("1")), in: place)
                // Room for the mark, and for the offset of the first segment.
                try #require(limitFileSize(16))
                #expect(try part.didWrite(100, to: 0).received == 100)
                #expect(throws: BackgroundError.self) { try part.didWrite(50, to: 1) }
                #expect(part.map.received == 100)
            }
        }
    }
}
