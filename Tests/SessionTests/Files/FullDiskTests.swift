import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct FullDiskTests {
    /// A file system of 1 MiB, which takes root and the right to mount one.
    @Test(.enabled(if: SmallDisk.isPossible, "Mounting a small file system is not allowed here."))
    func aFullDiskFailsAndLeavesNothing() async throws {
        try await withScratchFolder { folder in
            try await SmallDisk.mount(at: folder)
            do {
                try folder.write("old", to: "file")
                let client = try makeClient(StubTransport { _ in .status(200, body: makeBytes(3_000_000)) })
                let error = await #expect(throws: SessionError.self) {
                    try await client.get("a").download(to: folder["file"])
                }
                #expect(error?.code == .fileFailed)
                #expect(error?.fileFailure?.errorNumber == ENOSPC)
                #expect(error?.fileFailure?.path == folder["file"].path)
                #expect(error?.head?.status == .ok)
                #expect(folder.names == ["file"])
                #expect(try folder.text(of: "file") == "old")
            } catch {
                Issue.record(error)
            }
            try await SmallDisk.unmount(folder)
        }
    }

    /// The limit of a process on the size of its files, in a process of its own: possible for everybody.
    @Test func aFileAboveTheProcessesLimitFailsAndLeavesNothing() async {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            try #require(limitFileSize(1_000_000))
            let isRight = try await withScratchFolder { folder in
                let client = try makeClient(StubTransport { _ in .status(200, body: makeBytes(3_000_000)) })
                do throws(SessionError) {
                    try await client.get("a").download(to: folder["file"])
                    return false
                } catch {
                    return error.fileFailure?.errorNumber == EFBIG && folder.names.isEmpty
                }
            }
            try #require(isRight)
        }
    }
}

private func limitFileSize(_ bytes: rlim_t) -> Bool {
    var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
    #if canImport(Glibc)
    return setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0
    #else
    return setrlimit(RLIMIT_FSIZE, &limit) == 0
    #endif
}

private enum SmallDisk {
    static let isPossible: Bool = {
        guard geteuid() == 0 else { return false }
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-disk-\(UUID().uuidString)").path
        guard mkdir(folder, 0o700) == 0 else { return false }
        defer { rmdir(folder) }
        guard (try? Command.run(["mount", "-t", "tmpfs", "tmpfs", folder]))?.status == 0 else { return false }
        return (try? Command.run(["umount", folder]))?.status == 0
    }()

    static func mount(at folder: ScratchFolder) async throws {
        let command = try await Command.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder.url.path])
        #expect(command.status == 0, "\(command.errors)")
    }

    static func unmount(_ folder: ScratchFolder) async throws {
        let command = try await Command.run(["umount", folder.url.path])
        #expect(command.status == 0, "\(command.errors)")
    }
}
