import CommandSupport
import FoundationEssentials
import HTTPTypes
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

    /// A write that meets the limit is short, and the next one fails.
    @Test func bytesThatDoNotFitAreAnError() async throws {
        await #expect(processExitsWith: .success) {
            try await withFolder { folder in
                try #require(limitFileSize(1000))
                for offset in [nil, 0] {
                    let path = folder.appending(path: "file").path
                    let file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
                    defer { close(file) }
                    let data = [UInt8](bytes(2000))
                    #expect(SystemCall.writeAll(data[...], to: file, at: offset) == EFBIG)
                    #expect(FileManager.default.contents(atPath: path) == Data(data.prefix(1000)))
                    #expect(SystemCall.writeAll(data[1000..<1500], to: file, at: 100) == nil)
                    let written = data.prefix(100) + data[1000..<1500] + data[600..<1000]
                    #expect(FileManager.default.contents(atPath: path) == Data(written))
                }
            }
        }
    }

    /// The definition of a begun download, which a lost journal needs, does not stay half written.
    @Test(.enabled(if: SmallDisk.isPossible, "Mounting a small file system is not allowed here."))
    func aDefinitionThatDidNotFitIsStoredLater() async throws {
        try await withFileServer(["/file": bytes(5_000_000)]) { files, server in
            files.change { $0.throttle = .init(bytes: 16 << 10, pause: .milliseconds(20)) }
            try await withFolder { folder in
                try await withBackground(in: folder) { _ in }
                let parts = sessionFolder(folder).appending(path: "parts")
                try SmallDisk.mount(at: parts)
                do {
                    try await Self.beginOnFullDisk(folder, parts, server)
                } catch {
                    Issue.record(error)
                }
                try SmallDisk.unmount(parts)
            }
        }
    }

    private static func beginOnFullDisk(_ folder: URL, _ parts: URL, _ server: MockServer) async throws {
        // It leaves a page, which is too little for the definition.
        let filler = parts.appending(path: "filler")
        try bytes(255 * 4096).write(to: filler)
        try await withBackground(in: folder) { background in
            let events = background.events
            let call = try background.get(server).header(.userAgent, String(repeating: "x", count: 6000))
            let task = try await background.download(call, to: folder.appending(path: "file"))
            for await event in events where event.task?.nextAttempt != nil || event.kind == .progressed { break }
            try await background.pause(task.id)
            try await background.state(.paused, of: task.id)
            #expect(names(in: parts).contains("\(task.id).task") == false)
            try FileManager.default.removeItem(at: filler)
            let later = background.events
            try await background.resume(task.id)
            for await _ in later where names(in: parts).contains("\(task.id).task") { break }
            let stored = try Data(contentsOf: parts.appending(path: "\(task.id).task"))
            #expect(stored.count > 6000 && stored.last == UInt8(ascii: "}"))
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
