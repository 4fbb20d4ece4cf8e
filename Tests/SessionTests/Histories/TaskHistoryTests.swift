import FoundationEssentials
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

/// Ten thousand tasks with random histories, the same each time: each ends once, in a legal order, and nothing is left.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(10)))
struct TaskHistoryTests {
    // In a separate process, where no other test opens descriptors.
    @Test func everyTaskEndsOnceAndLeavesNothing() async {
        await #expect(processExitsWith: .success) {
            // This creates the objects that exist once in a process.
            try await play(overSockets: true, 0..<50)
            let before = try descriptors()
            try await play(overSockets: false, 0..<8_000)
            try await play(overSockets: true, 8_000..<10_000)
            let left = try descriptors()
            #expect(left.count == before.count, "open at the end: \(left), and before: \(before)")
        }
    }
}

/// Plays histories on a separate session, and records their problems.
private func play(overSockets: Bool, _ seeds: Range<UInt64>) async throws {
    try await withScratchFolder { folder in
        guard overSockets else {
            let transport = StubTransport { try await HistoryServer.respond(to: $0) }
            return try await play(makeClient(base: "http://example.com/", transport), folder, seeds)
        }
        try await withMockServer(handler: { HistoryServer.respond(to: $0) }) { server in
            try await play(HTTPSession(baseURL: server.url("/")), folder, seeds)
        }
    }
}

private func play(_ client: HTTPSession, _ folder: ScratchFolder, _ seeds: Range<UInt64>) async throws {
    let runner = HistoryRunner(client: client, folder: folder)
    try await withThrowingTaskGroup(of: HistoryRunner.Findings.self) { group in
        var waiting = seeds.makeIterator()
        for seed in waiting.prefix(64) { group.addTask { try await runner.play(TaskHistory(seed: seed)) } }
        while let findings = try await group.next() {
            for finding in findings.all { Issue.record("\(finding)") }
            if let seed = waiting.next() { group.addTask { try await runner.play(TaskHistory(seed: seed)) } }
        }
    }
    for finding in try await runner.findings(expecting: seeds.count) { Issue.record("\(finding)") }
    #expect(client.tasks.isEmpty, "tasks are left")
    #expect(folder.names.isEmpty, "\(folder.names) are left")
    await client.shutdown()
}

/// The targets of the process's descriptors, without pipes: Linnet opens none, and the thread sanitizer starts a
/// program to name the functions in a report, also in one that is suppressed, and keeps the pipes to it.
private func descriptors() throws -> [String] {
    let folder = "/proc/self/fd/"
    let open = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: folder + $0)
    }
    return open.filter { !$0.hasPrefix("pipe:") }.sorted()
}

extension Range<UInt64>.Iterator {
    /// Takes the first few.
    fileprivate mutating func prefix(_ count: Int) -> [UInt64] {
        var taken: [UInt64] = []
        while taken.count < count, let next = next() { taken.append(next) }
        return taken
    }
}
