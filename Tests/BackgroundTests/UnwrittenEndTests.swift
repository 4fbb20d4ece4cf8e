import FoundationEssentials
import GRDB
import LinnetSession
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetBackground

/// Ends of attempts that cannot be written to the journal for a while.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct UnwrittenEndTests {
    @Test func anEndIsWrittenWhenTheJournalCanBeWritten() async throws {
        try await withUnwrittenEnd { background, task, journal in
            #expect(try await background.task(task.id)?.state == .running)
            let error = try await failure { try await background.pause(task.id) }
            #expect(error.code == .storageFailed)
            try journal.open()
            // A change of the journal asks for a pass, like the timer a few seconds later.
            try await background.limitBandwidth(to: nil)
            #expect(try await background.ended(task.id).state == .completed)
        } afterwards: { folder, _ in
            #expect(names(in: folder) == ["file", "session"])
        }
    }

    @Test func anEndThatWasNeverWrittenIsFoundByTheNextSession() async throws {
        try await withUnwrittenEnd { _, _, _ in
        } afterwards: { folder, journal in
            try journal.open()
            try await withBackground(in: folder) { background in
                try await background.drained()
                #expect(try await background.tasks.map(\.state) == [.completed])
            }
        }
    }

    /// Downloads a file in a session whose journal is locked at the end of the download, and calls a function then, and
    /// another one after the session was shut down. The file is there in between, and was requested once.
    private func withUnwrittenEnd(
        perform: (BackgroundSession, BackgroundTask, LockedJournal) async throws -> Void,
        afterwards: (URL, LockedJournal) async throws -> Void
    ) async throws {
        let data = bytes(100_000)
        try await withFileServer(["/file": data]) { files, server in
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                let (journal, ends) = (LockedJournal(), AsyncStream<Void>.makeStream())
                try await withBackground(in: folder, { journal.close(at: .willEnd, &$0) { ends.continuation.yield() } })
                {
                    background in
                    journal.set(background.journal.queue)
                    let task = try await background.download(background.get(server), to: file)
                    for await _ in ends.stream { break }
                    #expect(try Data(contentsOf: file) == data)
                    try await perform(background, task, journal)
                }
                try await afterwards(folder, journal)
                #expect(try Data(contentsOf: file) == data)
                #expect(files.requests.count == 1)
            }
        }
    }

    @Test func aTaskIsNotAcceptedThatCannotBeWritten() async throws {
        try await withFolder { folder in
            try await withBackground(in: folder) { background in
                let journal = LockedJournal()
                journal.set(background.journal.queue)
                try journal.close()
                let call = background.session.get("http://127.0.0.1:9/a")
                let file = folder.appending(path: "file")
                #expect(try await failure { try await background.download(call, to: file) }.code == .storageFailed)
                try journal.open()
                #expect(try await background.tasks.isEmpty)
            }
        }
    }
}

/// Makes a journal fail all transactions that write, as another program can that keeps it locked.
private final class LockedJournal: Sendable {
    private struct State {
        var queue: DatabaseQueue?
        var locker: DatabaseQueue?
    }

    private let state = Mutex(State())

    func set(_ queue: DatabaseQueue) { state.withLock { $0.queue = queue } }

    func close() throws {
        guard let queue = state.withLock({ $0.queue }) else { return }
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA busy_timeout = 1") }
        var configuration = GRDB.Configuration()
        configuration.busyMode = .timeout(10)
        configuration.allowsUnsafeTransactions = true
        let locker = try DatabaseQueue(path: queue.path, configuration: configuration)
        try locker.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        state.withLock { $0.locker = locker }
    }

    func open() throws {
        try state.withLock { $0.locker }?.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        state.withLock { $0.locker = nil }
    }

    /// Closes the journal when the session reaches a step for the first time, and calls a function.
    func close(
        at point: FaultPoint, _ configuration: inout BackgroundSession.Configuration,
        _ didClose: @escaping @Sendable () -> Void
    ) {
        let isClosed = Mutex(false)
        configuration.reachFaultPoint = { name in
            guard name == point.rawValue, !isClosed.withLock({ $0.exchange(true) }) else { return }
            try? self.close()
            didClose()
        }
    }
}

extension Bool {
    fileprivate mutating func exchange(_ value: Bool) -> Bool {
        defer { self = value }
        return self
    }
}
