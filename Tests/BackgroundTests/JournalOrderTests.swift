import CommandSupport
import FoundationEssentials
import LinnetSession
import LinnetTesting
import Testing

@testable import LinnetBackground

/// The order of the tasks that begin, and changes that share a transaction.
@Suite(.timeLimit(.minutes(2)))
struct JournalOrderTests {
    /// Few due tasks are sorted, and many are read in the order of the index.
    @Test(arguments: [20, 65, 300])
    func theFirstDueTasksOfHostsWithRoomBegin(count: Int) async throws {
        try await withJournal { journal in
            let now = Runner.now
            var expected: [TaskRecord] = []
            for number in 0..<count {
                var definition = definition(number, at: now)
                // A task of another host, another order, or a later time.
                definition.url = "http://\(number % 3 == 0 ? "a" : "b").example/\(number)"
                definition.priority = [0.25, 0.5, 0.75][number * 7 % 3]
                if number % 5 == 0 { definition.earliest = now + 60_000 }
                let record = try await journal.accept(definition)
                if number % 5 != 0 { expected.append(record) }
            }
            expected.sort { ($0.definition.rank, $0.id) < ($1.definition.rank, $1.id) }
            var begun: [BackgroundTask.ID] = []
            while true {
                // One of the host "a" is active already, and only one more may be.
                let room = Journal.Room(tasks: 4, tasksOfHost: 2, active: ["a.example:80": 1])
                let turn = try await journal.takeTurn(room, at: now, recreations: 3)
                let next = Self.next(expected, in: room)
                #expect(turn.started.map(\.id) == next.map(\.id))
                guard !turn.started.isEmpty else { break }
                expected.removeAll { next.contains($0) }
                begun += turn.started.map(\.id)
                for record in turn.started {
                    let attempt = record.machine.attempts
                    try await journal.apply(.succeed, to: record.id, attempt: attempt, at: now, recreations: 3)
                }
            }
            #expect(Set(begun).count == begun.count && expected.isEmpty)
            let turn = try await journal.takeTurn(
                Journal.Room(tasks: 1, tasksOfHost: 1, active: [:]), at: now, recreations: 3)
            #expect(turn.nextTime == now + 60_000)
        }
    }

    @Test func receivedDownloadsLeaveRoomForAsManyAgain() {
        func room(_ hosts: [String], received: Int) -> Journal.Room {
            Journal.Room(for: 3, ofHost: 2, beside: hosts, received: received)
        }
        #expect(room([], received: 0).tasks == 3)
        #expect(room(["a", "a"], received: 0).tasks == 1 && room(["a", "a"], received: 0).fullHosts == ["a"])
        #expect(room(["a"], received: 3).tasks == 2 && room(["a"], received: 3).fullHosts.isEmpty)
        #expect(room(["a", "b"], received: 4).tasks == 0)
        #expect(room([], received: 6).tasks == 0)
        #expect(Journal.Room(for: 0, ofHost: 0, beside: [], received: 0).tasks == 1)
    }

    private static func next(_ records: [TaskRecord], in room: Journal.Room) -> [TaskRecord] {
        var (active, next): ([String: Int], [TaskRecord]) = (room.active, [])
        for record in records where next.count < room.tasks {
            guard active[record.definition.host, default: 0] < room.tasksOfHost else { continue }
            active[record.definition.host, default: 0] += 1
            next.append(record)
        }
        return next
    }

    /// A change that is refused is undone, and those that share its transaction are not.
    @Test func aRefusedChangeUndoesNoOther() async throws {
        try await withJournal { journal in
            let now = Runner.now
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        // Each destination twice.
                        (try? await journal.accept(definition(number % 100, at: now))) != nil
                    }
                }
                return await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            #expect(outcomes.count { $0 } == 100)
            let tasks = try await journal.tasks()
            #expect(Set(tasks.map(\.definition.path)).count == 100 && tasks.count == 100)
        }
    }

    /// A task that this process has read is read again when another process has changed it.
    @Test func changesOfAnotherProcessAreSeen() async throws {
        try await withFolder { folder in
            let now = Runner.now
            let (one, other) = (try open(folder), try open(folder))
            let id = try await one.accept(definition(1, at: now)).id
            for round in 0..<4 {
                try await other.apply(round % 2 == 0 ? .pause : .resume, to: id, at: now, recreations: 3)
                #expect(try await one.task(id)?.machine.state == (round % 2 == 0 ? .paused : .waiting))
                #expect(try await one.task(id) == other.task(id))
            }
            // Without a new revision.
            try await one.apply(.cancel, to: id, at: now, recreations: 3)
            #expect(try await one.task(id)?.isTold == false)
            try await other.setTold([id])
            #expect(try await one.task(id)?.isTold == true)
        }
    }

    /// The first version of the journal had another index.
    @Test func aJournalOfTheFirstVersionIsBroughtUpToDate() async throws {
        try await withFolder { folder in
            let now = Runner.now
            for number in 0..<100 { _ = try await open(folder).accept(definition(number, at: now)) }
            let change = """
                DROP INDEX taskToStart; CREATE INDEX taskToStart ON task(rank, readyAt, host) WHERE state = 0;
                PRAGMA user_version = 1
                """
            let path = sessionFolder(folder).path + "/journal.sqlite"
            try await Command.sqlite(path, change)
            let journal = try open(folder)
            let room = Journal.Room(tasks: 4, tasksOfHost: 4, active: [:])
            #expect(try await journal.takeTurn(room, at: now, recreations: 3).started.count == 4)
            #expect(try await Command.sqlite(path, "PRAGMA user_version") == "2")
        }
    }

    @Test func foldersAreSynchronizedTogether() async throws {
        try await withFolder { folder in
            let folders = FolderSynchronizer()
            let paths = [folder.path, folder.path + "/missing"]
            await withTaskGroup(of: (String, Int32).self) { group in
                for number in 0..<100 {
                    group.addTask { (paths[number % 2], await folders.synchronize(paths[number % 2])) }
                }
                for await (path, code) in group { #expect((code == 0) == (path == paths[0])) }
            }
        }
    }
}

private func open(_ folder: URL) throws -> Journal {
    let folder = try BackgroundFolder(sessionFolder(folder))
    try folder.prepare()
    return try Journal.open(folder, faults: FaultPoints(nil))
}

private func withJournal(_ perform: (Journal) async throws -> Void) async throws {
    try await withFolder { folder in try await perform(open(folder)) }
}

private func definition(_ number: Int, at now: Int64) -> TransferDefinition {
    TransferDefinition(
        kind: .download, method: "GET", url: "http://127.0.0.1:9/\(number)", fields: [], path: "/tmp/\(number)",
        mark: "\(number)", acceptedAt: now, timeout: 3_600_000, priority: 0.5, replacesFile: true,
        createsDirectories: false, allowsExpensiveNetworks: true, storesSecrets: false)
}
