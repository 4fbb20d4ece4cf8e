import FoundationEssentials
import LinnetBackground
import LinnetSession
import LinnetTesting
import LinnetUIState
import Testing

/// The states of a user interface that follow background tasks.
@Suite(.timeLimit(.minutes(2)))
struct FollowingTests {
    @Test @MainActor func progressAndActivityFollowATask() async throws {
        try await withFileServer(["/file": bytes(2_000_000)]) { files, server in
            files.change { $0.throttle = .init(bytes: 64 << 10, pause: .milliseconds(10)) }
            try await withFolder { folder in
                try await withBackground(in: folder) { background in
                    let progress = TransferProgressState()
                    let activity = ActivityState()
                    let fractions = progress.states
                    let activities = activity.states
                    let task = try await background.download(background.get(server), to: folder.appending(path: "file"))
                    progress.follow(background.progressUpdates(of: task.id))
                    activity.follow(background.states(of: task.id))
                    for await isAnimating in activities where isAnimating { break }
                    for await state in fractions where state.isFinished { break }
                    for await isAnimating in activity.states where !isAnimating { break }
                    #expect(progress.progress.completed == 2_000_000)
                }
            }
        }
    }
}
