import CommandSupport
import FoundationEssentials
import LinnetBackground
import LinnetSession
import LinnetTesting
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// The directory of a session and its journal.
@Suite(.timeLimit(.minutes(2)))
struct JournalTests {
    @Test func onlyTheOwnerCanReadTheFiles() async throws {
        try await withFolder { folder in
            try await withBackground(in: folder) { background in
                let call = background.session.get("http://127.0.0.1:9/a")
                try await background.download(call, to: folder.appending(path: "file")) {
                    $0.earliestBeginDate = .distantFuture
                }
                let session = sessionFolder(folder)
                for (name, mode) in [("", 0o700), ("/parts", 0o700), ("/journal.sqlite", 0o600), ("/lock", 0o600)] {
                    var status = stat()
                    try #require(lstat(session.path + name, &status) == 0)
                    #expect(status.st_mode & 0o777 == mode_t(mode), "\(name)")
                }
            }
        }
    }

    @Test(arguments: ["mode", "link"])
    func aDirectoryOfOthersIsRefused(kind: String) async throws {
        try await withFolder { folder in
            let session = sessionFolder(folder)
            if kind == "mode" {
                try FileManager.default.createDirectory(at: session, withIntermediateDirectories: true)
                chmod(session.path, 0o777)
            } else {
                symlink(folder.path, session.path)
            }
            let error = try await failure { _ = try await BackgroundSession("test", directory: session) }
            #expect(error.code == .untrustedDirectory)
        }
    }

    @Test func aNewerJournalIsLeftAlone() async throws {
        try await withFolder { folder in
            try await withBackground(in: folder) { _ in }
            let journal = sessionFolder(folder).appending(path: "journal.sqlite")
            let command = try await Command.run(["sqlite3", journal.path, "PRAGMA user_version = 99"])
            try #require(command.status == 0, "\(command.errors)")
            let before = try Data(contentsOf: journal)
            let error = try await failure { _ = try await BackgroundSession("test", directory: sessionFolder(folder)) }
            #expect(error.code == .newerJournal)
            #expect(try Data(contentsOf: journal) == before)
        }
    }

    @Test(arguments: ["garbage", "foreign"])
    func aDamagedJournalIsKeptAside(kind: String) async throws {
        try await withFolder { folder in
            let session = sessionFolder(folder)
            try await withBackground(in: folder) { _ in }
            let journal = session.appending(path: "journal.sqlite")
            if kind == "garbage" {
                try bytes(5000).write(to: journal)
            } else {
                try FileManager.default.removeItem(at: journal)
                let command = try await Command.run(["sqlite3", journal.path, "CREATE TABLE other (a)"])
                try #require(command.status == 0, "\(command.errors)")
            }
            try await withBackground(in: folder) { background in
                let tasks = try await background.tasks
                #expect(tasks.isEmpty)
                #expect(names(in: session).contains("journal.sqlite.damaged"))
            }
        }
    }
}
