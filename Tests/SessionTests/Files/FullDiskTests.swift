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
            try SmallDisk.mount(at: folder.url)
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
            try SmallDisk.unmount(folder.url)
        }
    }

    /// The limit on the size of a process's files, in a separate process: it needs no privileges.
    @Test func aFileAboveTheProcessesLimitFailsAndLeavesNothing() async {
        await #expect(processExitsWith: .success) {
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
