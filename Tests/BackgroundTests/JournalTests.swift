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

    @Test(
        .enabled(if: geteuid() == 0, "Only root can give a directory to another user."),
        arguments: ["", "/parts", "/sockets"])
    func aDirectoryOfAnotherUserIsRefused(name: String) async throws {
        try await withFolder { folder in
            try await withBackground(in: folder) { _ in }
            let session = sessionFolder(folder)
            try #require(chown(session.path + name, 65_534, 65_534) == 0)
            let error = try await failure { _ = try await BackgroundSession("test", directory: session) }
            #expect(error.code == .untrustedDirectory && error.message.contains("another user"))
        }
    }

    @Test(arguments: ["/parts", "/sockets"])
    func aDirectoryInsideThatOthersCanWriteIsRefused(name: String) async throws {
        try await withFolder { folder in
            try await withBackground(in: folder) { _ in }
            let session = sessionFolder(folder)
            chmod(session.path + name, 0o720)
            let error = try await failure { _ = try await BackgroundSession("test", directory: session) }
            #expect(error.code == .untrustedDirectory && error.message.contains("other users"))
        }
    }

    @Test func aNewerJournalIsLeftAlone() async throws {
        try await withFolder { folder in
            try await withBackground(in: folder) { _ in }
            let journal = sessionFolder(folder).appending(path: "journal.sqlite")
            try await Command.sqlite(journal.path, "PRAGMA user_version = 99")
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
                try await Command.sqlite(journal.path, "CREATE TABLE other (a)")
            }
            try await withBackground(in: folder) { background in
                #expect(background.journalDamage?.code == .damagedJournal)
                let tasks = try await background.tasks
                #expect(tasks.isEmpty)
                #expect(names(in: session).contains("journal.sqlite.damaged"))
            }
        }
    }

    @Test func begunDownloadsOutliveTheJournal() async throws {
        let data = bytes(3_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = .init(bytes: 64 << 10, pause: .milliseconds(20)) }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                let id = try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: file) { $0.tag = "a" }
                    try await background.progress(of: task.id, beyond: 500_000)
                    return task.id
                }
                try bytes(5000).write(to: sessionFolder(folder).appending(path: "journal.sqlite"))
                files.change { $0.throttle = nil }
                try await withBackground(in: folder) { background in
                    #expect(background.journalDamage?.message.contains("1 begun") == true)
                    let task = try await background.ended(id)
                    #expect(task.state == .completed && task.tag == "a")
                }
                #expect(try Data(contentsOf: file) == data)
                #expect(files.requests.last?.headerFields[.range] != nil)
                #expect(names(in: folder) == ["file", "session"])
                #expect(names(in: sessionFolder(folder).appending(path: "parts")).isEmpty)
            }
        }
    }
}
