import CommandSupport
import FoundationEssentials
import LinnetBackground
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Downloads to a disk that is full for a while.
@Suite(.timeLimit(.minutes(2)))
struct FullDiskTests {
    /// A file system of 1 MiB, which takes root and the right to mount one.
    @Test(
        .enabled(if: SmallDisk.isPossible, "Mounting a small file system is not allowed here."),
        arguments: [true, false])
    func aDownloadWaitsForRoom(hasLength: Bool) async throws {
        let data = bytes(800_000)
        let body = hasLength ? MockResponse.Body.bytes(data) : .chunks([data.prefix(500_000), data.dropFirst(500_000)])
        try await withMockServer(MockResponse(headerFields: [.eTag: "\"1\""], body: body)) { server in
            try await withFolder { folder in
                let disk = folder.appending(path: "disk")
                try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: false)
                try SmallDisk.mount(at: disk)
                do {
                    let filler = disk.appending(path: "filler")
                    try bytes(700_000).write(to: filler)
                    try await withBackground(in: folder) { background in
                        let events = background.events
                        let file = disk.appending(path: "file")
                        let task = try await background.download(background.get(server), to: file)
                        for await event in events where event.task?.nextAttempt != nil { break }
                        let waiting = try #require(try await background.task(task.id))
                        #expect(waiting.state == .waiting && waiting.error?.code == .diskFull)
                        #expect(names(in: disk).contains("file") == false)
                        try FileManager.default.removeItem(at: filler)
                        try await background.retry(task.id)
                        #expect(try await background.ended(task.id).state == .completed)
                        #expect(try Data(contentsOf: file) == data)
                    }
                } catch {
                    Issue.record(error)
                }
                try SmallDisk.unmount(disk)
            }
        }
    }

    /// The system reserves no room for a folder, so the room of its file system counts.
    @Test func roomThatCannotBeReservedIsLookedUp() throws {
        let folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(folder) }
        try FileRoom.reserve(folder, from: 0, count: 1000, "file")
        try FileRoom.reserve(folder, from: .max - 10, count: 5, "file")
        let failure = try #require(throws: FileFailure.self) {
            try FileRoom.reserve(folder, from: 0, count: .max / 2, "file")
        }
        #expect(failure.errorNumber == ENOSPC && failure.description.contains("the disk has"))
        let tooLong = try #require(throws: FileFailure.self) {
            try FileRoom.reserve(folder, from: .max - 10, count: 50, "file")
        }
        #expect(tooLong.errorNumber == EFBIG)
    }

    /// `/proc` has no blocks, and is not full.
    @Test func aFileSystemWithoutASizeIsNotFull() throws {
        let file = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        try FileRoom.reserve(file, from: 0, count: 1 << 40, "file")
    }
}
