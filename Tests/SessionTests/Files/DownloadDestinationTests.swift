import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetTesting
import Testing

@testable import LinnetSession

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct DownloadDestinationTests {
    private let transport = StubTransport { _ in .status(200, body: Data("new".utf8)) }

    private func download(
        to url: URL, _ configure: (inout DownloadOptions) -> Void = { _ in }
    ) async throws -> Result<SessionResponse<URL>, SessionError> {
        let client = try makeClient(transport)
        return await Result { () async throws(SessionError) in
            try await client.get("a").download(to: url, options: DownloadOptions(configure))
        }
    }

    /// RFC 9110, section 15.3.7.
    @Test(arguments: [
        ("bytes 0-2/3", true), ("bytes 0-2/1000", false), ("bytes 1-3/4", false), ("bytes 0-2/*", false), ("", false),
    ])
    func aPartIsNotTheWhole(range: String, isWhole: Bool) async throws {
        try await withScratchFolder { folder in
            let transport = StubTransport { _ in
                .status(206, headerFields: range.isEmpty ? [:] : [.contentRange: range], body: Data("new".utf8))
            }
            let client = try makeClient(transport)
            let outcome = await Result { () async throws(SessionError) in
                try await client.get("a").download(to: folder["file"])
            }
            #expect(outcome.error?.code == (isWhole ? nil : .invalidResponse))
            #expect(folder.names == (isWhole ? ["file"] : []))
            // A requested name is used unchanged.
            _ = try await client.get("a").header(.range, "bytes=0-2").download(to: folder["part"])
            #expect(try folder.text(of: "part") == "new")
        }
    }

    @Test func anOldFileIsReplacedByDefault() async throws {
        try await withScratchFolder { folder in
            try folder.write("something old", to: "file")
            #expect(try await download(to: folder["file"]).error == nil)
            #expect(try folder.text(of: "file") == "new")
            #expect(folder.names == ["file"])
        }
    }

    @Test func anOldFileFailsBeforeAnythingIsSent() async throws {
        try await withScratchFolder { folder in
            try folder.write("old", to: "file")
            let error = try await download(to: folder["file"]) { $0.existingFile = .fail }.error
            #expect(error?.code == .fileFailed)
            #expect(error?.fileFailure?.errorNumber == EEXIST)
            #expect(error?.fileFailure?.path == folder["file"].path)
            #expect(try folder.text(of: "file") == "old")
            #expect(transport.requests.isEmpty)
        }
    }

    @Test func aFileCreatedMeanwhileIsNotReplaced() async throws {
        try await withScratchFolder { folder in
            let client = try makeClient(
                StubTransport { _ in
                    try folder.write("came in between", to: "file")
                    return .status(200, body: Data("new".utf8))
                })
            let error = await #expect(throws: SessionError.self) {
                try await client.get("a").download(to: folder["file"], options: .init { $0.existingFile = .fail })
            }
            #expect(error?.fileFailure?.errorNumber == EEXIST)
            #expect(try folder.text(of: "file") == "came in between")
            #expect(folder.names == ["file"])
        }
    }

    @Test func bothAreKept() async throws {
        try await withScratchFolder { folder in
            var names: [String] = []
            for _ in 0..<3 {
                let response = try await download(to: folder["a.tar.gz"]) { $0.existingFile = .keepBoth }.get()
                names.append(response.value.lastPathComponent)
            }
            #expect(names == ["a.tar.gz", "a.tar (1).gz", "a.tar (2).gz"])
            #expect(folder.names.count == 3)
        }
    }

    @Test(arguments: [false, true])
    func missingFoldersAreCreatedOnRequest(creates: Bool) async throws {
        try await withScratchFolder { folder in
            let result = try await download(to: folder["x//y///file"]) { $0.createsDirectories = creates }
            if creates {
                #expect(result.error == nil)
                #expect(try folder.text(of: "x/y/file") == "new")
            } else {
                #expect(result.error?.code == .fileFailed)
                #expect(result.error?.fileFailure?.errorNumber == ENOENT)
                #expect(result.error?.fileFailure?.path == folder["x//y"].path)
                #expect(result.error?.message.contains("is missing, and createsDirectories is false") == true)
                #expect(transport.requests.isEmpty)
                #expect(folder.names.isEmpty)
            }
        }
    }

    @Test func aFolderIsNoFile() async throws {
        try await withScratchFolder { folder in
            try FileManager.default.createDirectory(at: folder["sub"], withIntermediateDirectories: false)
            let error = try await download(to: folder["sub"]).error
            #expect(error?.code == .fileFailed)
            #expect(error?.fileFailure?.errorNumber == EISDIR)
            #expect(try await download(to: folder.url).error?.fileFailure?.errorNumber == EISDIR)
            #expect(transport.requests.isEmpty)
        }
    }

    @Test func aFileIsNoFolder() async throws {
        try await withScratchFolder { folder in
            try folder.write("old", to: "file")
            for creates in [false, true] {
                let result = try await download(to: folder["file/below"]) { $0.createsDirectories = creates }
                #expect(result.error?.fileFailure?.errorNumber == ENOTDIR)
            }
            #expect(try folder.text(of: "file") == "old")
        }
    }

    @Test func aDeviceIsLeftAlone() async throws {
        let error = try await download(to: URL(filePath: "/dev/null")).error
        #expect(error?.code == .fileFailed)
        #expect(error?.fileFailure?.errorNumber == EEXIST)
        #expect(transport.requests.isEmpty)
    }

    @Test func aFolderThatMayNotBeWrittenFails() async throws {
        try await withScratchFolder { folder in
            // Not even root may make a file here.
            let place = geteuid() == 0 ? URL(filePath: "/proc/linnet-file") : folder["closed/file"]
            if geteuid() != 0 { mkdir(folder["closed"].path, 0o500) }
            let error = try await download(to: place).error
            #expect(error?.code == .fileFailed)
            #expect(error?.fileFailure != nil)
        }
    }

    @Test func otherURLsAreRefused() async throws {
        let url = try #require(URL(string: "http://example.com/file"))
        #expect(try await download(to: url).error?.code == .invalidURL)
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: [nil, 0o600, 0o644, 0o777] as [UInt16?])
    func theFileHasTheRequestedPermissions(permissions: UInt16?) async throws {
        try await withScratchFolder { folder in
            let result = try await download(to: folder["file"]) { $0.permissions = permissions }
            #expect(result.error == nil)
            try folder.write("", to: "other")
            var (status, other) = (stat(), stat())
            stat(folder["file"].path, &status)
            stat(folder["other"].path, &other)
            #expect(status.st_mode & 0o777 == permissions.map { mode_t($0) } ?? 0o666 & ~currentMask())
        }
    }

    @Test func aFileCanBeSynchronized() async throws {
        try await withScratchFolder { folder in
            let result = try await download(to: folder["file"]) { $0.synchronizes = true }
            #expect(result.error == nil)
            #expect(try folder.text(of: "file") == "new")
        }
    }

    @Test func aSymbolicLinkItselfIsReplaced() async throws {
        try await withScratchFolder { folder in
            try folder.write("old", to: "target")
            symlink(folder["target"].path, folder["link"].path)
            #expect(try await download(to: folder["link"]).error == nil)
            #expect(try folder.text(of: "link") == "new")
            #expect(try folder.text(of: "target") == "old")
        }
    }

    @Test func theLongestNameIsOne() async throws {
        try await withScratchFolder { folder in
            let name = String(repeating: "ü", count: 127)
            for _ in 0..<2 {
                let result = try await download(to: folder[name]) { $0.existingFile = .keepBoth }
                #expect(result.error == nil)
            }
            #expect(folder.names.count == 2)
            let error = try await download(to: folder[name + "ü"]).error
            #expect(error?.fileFailure?.errorNumber == ENAMETOOLONG)
        }
    }

    @Test(arguments: ["", "/", "a/", "a/.", "..", "a\0b"])
    func pathsThatNameNoFile(path: String) {
        #expect(FilePlace(path) == nil)
    }

    @Test(arguments: [
        ("/a", "/", "a"), ("/a/b", "/a", "b"), ("a", ".", "a"), ("//a//b", "//a", "b"), ("//a", "/", "a"),
    ])
    func pathsThatDo(path: String, folder: String, name: String) {
        #expect(FilePlace(path)?.folder == folder)
        #expect(FilePlace(path)?.name == name)
    }

    private func currentMask() -> mode_t {
        let mask = umask(0)
        umask(mask)
        return mask
    }
}
