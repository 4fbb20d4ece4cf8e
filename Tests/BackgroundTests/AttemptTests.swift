import FoundationEssentials
import LinnetSession
import LinnetTesting
import Testing

@testable import LinnetBackground

/// Attempts that are stopped at a certain moment.
@Suite(.timeLimit(.minutes(1)))
struct AttemptTests {
    @Test func anAttemptThatIsStoppedBeforeItsRequestKeepsThePart() async throws {
        let data = bytes(3_000_000)
        try await withFileServer(["/file": data]) { files, server in
            files.change { $0.throttle = .init(bytes: 64 << 10, pause: .milliseconds(20)) }
            try await withFolder { folder in
                let file = folder.appending(path: "file")
                try await withBackground(in: folder) { background in
                    let task = try await background.download(background.get(server), to: file)
                    try await background.progress(of: task.id, beyond: 500_000)
                    try await background.pause(task.id)
                    try await background.state(.paused, of: task.id)
                    let record = try #require(try await background.journal.task(task.id))
                    let control = AttemptControl()
                    control.stop()
                    let attempt = Attempt(
                        record: record, session: background.session, store: { _ in },
                        folder: background.folder, folders: FolderSynchronizer(), policy: .never, control: control,
                        faults: FaultPoints(nil), bandwidth: Bandwidth(), report: { _ in })
                    let end = await attempt.run()
                    guard case .interrupt = end.event else {
                        Issue.record("The end is \(end.event).")
                        return
                    }
                    #expect(end.result.received == record.result.received)
                    files.change { $0.throttle = nil }
                    try await background.resume(task.id)
                    #expect(try await background.ended(task.id).state == .completed)
                }
                #expect(try Data(contentsOf: file) == data)
                #expect(files.requests.count == 2 && files.requests.last?.headerFields[.range] != nil)
            }
        }
    }
}
