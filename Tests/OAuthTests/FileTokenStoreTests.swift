import CommandSupport
import FoundationEssentials
import LinnetTesting
import Testing

@testable import LinnetOAuth

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite(.timeLimit(.minutes(2)))
struct FileTokenStoreTests {
    private static let token = OAuthToken(accessToken: "a0", refreshToken: "r0")

    private func mode(_ path: String) -> mode_t? {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o7777 : nil
    }

    private func makeStore(_ path: String) throws -> FileTokenStore { try FileTokenStore(URL(filePath: path)) }

    @Test func aTokenIsStoredForItsOwnerAlone() async throws {
        try await Scratch.with { scratch in
            let path = scratch.file("a/b/token.json")
            let store = try makeStore(path)
            #expect(try await store.token() == nil)
            try await store.replace(with: Self.token)
            #expect(try await store.token() == Self.token)
            #expect(mode(path) == 0o600 && mode(path + ".lock") == 0o600)
            #expect(mode(scratch.file("a")) == 0o700 && mode(scratch.file("a/b")) == 0o700)
            #expect(mode(path + ".new") == nil)
            try await store.replace(with: nil)
            #expect(try await store.token() == nil && mode(path) == nil)
        }
    }

    @Test func anUnchangedTokenIsNotWritten() async throws {
        try await Scratch.with { scratch in
            let path = scratch.file("token")
            let store = try makeStore(path)
            try await store.replace(with: Self.token)
            var (before, after) = (stat(), stat())
            #expect(stat(path, &before) == 0)
            #expect(try await store.update { $0 } == Self.token)
            #expect(stat(path, &after) == 0 && before.st_ino == after.st_ino)
        }
    }

    @Test func aFailedChangeLeavesTheToken() async throws {
        try await Scratch.with { scratch in
            let path = scratch.file("token")
            let store = try makeStore(path)
            try await store.replace(with: Self.token)
            let error = await oauthError { try await store.update { _ in throw OAuthError(.invalidGrant, "No.") } }
            #expect(error?.code == .invalidGrant)
            #expect(try await store.token() == Self.token && mode(path + ".new") == nil)
        }
    }

    /// The properties of a file that is untrusted or damaged.
    enum Defect: CaseIterable {
        case readByOthers, writtenByTheGroup, link, danglingLink, folder, pipe, cutInHalf, empty, html, huge
        case lockReadByOthers, lockIsALink
        case anotherUsers
    }

    private func make(_ defect: Defect, _ path: String) throws {
        let data = try JSONEncoder().encode(Self.token)
        func write(_ data: Data, _ mode: mode_t = 0o600) throws {
            try data.write(to: URL(filePath: path))
            chmod(path, mode)
        }
        switch defect {
        case .readByOthers: try write(data, 0o604)
        case .writtenByTheGroup: try write(data, 0o620)
        case .link:
            try write(data)
            rename(path, path + ".real")
            symlink(path + ".real", path)
        case .danglingLink: symlink(path + ".none", path)
        case .folder: mkdir(path, 0o700)
        case .pipe: mkfifo(path, 0o600)
        case .cutInHalf: try write(data.prefix(data.count / 2))
        case .empty: try write(Data())
        case .html: try write(Data("<html>".utf8))
        case .huge: try write(Data(repeating: 0x20, count: (1 << 20) + 1))
        case .lockReadByOthers:
            try Data().write(to: URL(filePath: path + ".lock"))
            chmod(path + ".lock", 0o644)
        case .lockIsALink: symlink(path + ".none", path + ".lock")
        case .anotherUsers:
            try write(data)
            chown(path, 65534, 65534)
        }
    }

    @Test(arguments: Defect.allCases)
    func aDefectiveFileIsAnErrorAndIsKept(defect: Defect) async throws {
        // Only root can give a file away.
        guard defect != .anotherUsers || geteuid() == 0 else { return }
        try await Scratch.with { scratch in
            let path = scratch.file("token")
            try make(defect, path)
            var (before, after) = (stat(), stat())
            _ = lstat(path, &before)
            let store = try makeStore(path)
            let isDamaged = [.cutInHalf, .empty, .html, .huge].contains(defect)
            let code: OAuthError.Code = isDamaged ? .damagedTokenFile : .untrustedTokenFile
            let error = await #expect(throws: OAuthError.self) {
                try await store.update { _ in
                    Issue.record("The change ran.")
                    return Self.token
                }
            }
            #expect(error?.code == code)
            if defect != .lockReadByOthers, defect != .lockIsALink {
                let error = await #expect(throws: OAuthError.self) { try await store.token() }
                #expect(error?.code == code)
            }
            _ = lstat(path, &after)
            #expect(before.st_ino == after.st_ino && before.st_size == after.st_size)
        }
    }

    @Test func theUnfinishedFileOfAKilledProcessIsReplaced() async throws {
        try await Scratch.with { scratch in
            let path = scratch.file("token")
            _ = try scratch.write("token.new", "{\"access_tok")
            let store = try makeStore(path)
            try await store.replace(with: Self.token)
            #expect(try await store.token() == Self.token && mode(path) == 0o600)
        }
    }

    @Test func aFolderThatCannotBeWrittenIsNoticedBeforeTheRenewal() async throws {
        try await Scratch.with { scratch in
            // A folder in the place of the successor, which unlink(2) does not remove.
            let path = scratch.file("token")
            mkdir(path + ".new", 0o700)
            let store = try makeStore(path)
            let error = await oauthError {
                try await store.update { _ in
                    Issue.record("The change ran.")
                    return Self.token
                }
            }
            #expect(error?.code == .tokenStoreFailed)
        }
    }

    @Test func waitingForTheLockBlocksNoThreadAndCanBeCancelled() async throws {
        try await Scratch.with { scratch in
            let (path, gate) = (scratch.file("token"), Gate())
            let (holder, other) = (try makeStore(path), try makeStore(path))
            let isHeld = Gate()
            let first = Task {
                try await holder.update { _ in
                    isHeld.open()
                    await gate.wait()
                    return Self.token
                }
            }
            await isHeld.wait()
            // More than there are threads.
            let waiting = (0..<100).map { _ in Task { try await other.update { $0 } } }
            for task in waiting.dropFirst() { task.cancel() }
            for task in waiting.dropFirst() {
                let error = await oauthError { try await task.value }
                #expect(error?.code == .cancelled)
            }
            gate.open()
            _ = try await first.value
            #expect(try await waiting[0].value == Self.token)
        }
    }

    @Test func differentTextsHaveDifferentFileNamesOfLimitedLength() {
        let long = String(repeating: "a", count: 200)
        let texts = [
            "", "-", "a", "A", "a/b", "a_2fb", "../..", ".", "ä", "\u{A}b", "\u{AB}", "https://example.com", long,
            long + "b",
            String(repeating: "/", count: 5000), String(repeating: "a", count: 97), String(repeating: "a", count: 98),
        ]
        let names = texts.map { TokenFileName.of($0) }
        #expect(Set(names).count == texts.count)
        for name in names {
            #expect(name.utf8.count <= TokenFileName.limit && !name.hasPrefix(".") && !name.contains("/"))
        }
    }

    /// A process that comes later does not see the lock on a file that was removed.
    @Test func aLockOnARemovedFileIsTakenAgain() async throws {
        try await Scratch.with { scratch in
            let (path, gate, isHeld) = (scratch.file("token"), Gate(), Gate())
            let store = try makeStore(path)
            let holder = Task {
                try await store.update { token in
                    isHeld.open()
                    await gate.wait()
                    return token
                }
            }
            await isHeld.wait()
            let waiter = Task {
                try await store.update { _ in
                    #expect(mode(path + ".lock") == 0o600)
                    return Self.token
                }
            }
            try await Task.sleep(for: .milliseconds(20))
            #expect(unlink(path + ".lock") == 0)
            gate.open()
            _ = try await holder.value
            #expect(try await waiter.value == Self.token)
        }
    }

    @Test(arguments: ["https://example.com/token", "file:///tmp/", "file:///tmp/a%00b"])
    func aStoreNeedsAFile(url: String) async throws {
        let url = try #require(URL(string: url))
        #expect(await oauthError { try FileTokenStore(url) }?.code == .invalidConfiguration)
    }
}
