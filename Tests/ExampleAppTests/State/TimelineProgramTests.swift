import FoundationEssentials
import Linnet
import LinnetTesting
import Testing

@testable import ExampleApp

/// The program with the embedded server, without a screen.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
@MainActor
struct TimelineProgramTests {
    @Test func theTimelineItsPicturesAndTheFactsOfTheConnectionAreLoaded() async throws {
        try await withProgram { program, states in
            program.send(.started)
            let state = try await states.first { $0.avatars.count == SamplePosts.names.count }
            #expect(state.posts.count == 20)
            #expect(state.facts?.isPinned == true)
            #expect(state.facts?.cache == "miss")
            #expect(state.message == nil)
        }
    }

    @Test func refreshingIsShownWhileTheRequestRuns() async throws {
        try await withHeldTimeline { program, states, release in
            program.send(.started)
            _ = try await states.first { $0.live.isRefreshing }
            release.fire()
            _ = try await states.first { !$0.live.isRefreshing && $0.facts != nil }
            program.send(.command(.refresh))
            let state = try await states.first { $0.facts?.cache != "miss" && !$0.live.isRefreshing }
            #expect(["hit", "revalidated"].contains(state.facts?.cache))
        }
    }

    @Test func aDownloadIsSuspendedResumedAndSaved() async throws {
        try await withProgram { program, states in
            program.send(.started)
            _ = try await states.first { !$0.posts.isEmpty }
            program.send(.command(.download(post: nil)))
            _ = try await states.first { ($0.live.transfer?.completed ?? 0) > 0 }
            program.send(.command(.suspend))
            _ = try await states.first { $0.live.transfer?.phase == .suspended }
            program.send(.command(.suspend))
            let state = try await states.first { $0.live.transfer?.isActive == false }
            #expect(state.live.transfer?.phase == .finished)
            let file = try #require(program.downloadedFiles.first)
            #expect(try Data(contentsOf: file).count == SamplePosts.attachmentSize)
        }
    }

    /// The next run has another server, with another port and another key.
    @Test func aDownloadGoesOnInTheNextRun() async throws {
        try await withFolder { folder in
            var received: Int64 = 0
            try await Self.withProgram(in: folder) { program, states in
                program.send(.started)
                _ = try await states.first { !$0.posts.isEmpty }
                program.send(.command(.download(post: nil)))
                let state = try await states.first { ($0.live.transfer?.completed ?? 0) > 500_000 }
                received = state.live.transfer?.completed ?? 0
                #expect(program.download != nil && program.downloadedFiles.isEmpty)
            }
            try await Self.withProgram(in: folder) { program, states in
                let state = try await states.first { $0.live.transfer != nil }
                #expect((state.live.transfer?.completed ?? 0) >= received)
                let end = try await states.first { $0.live.transfer?.isActive == false }
                #expect(end.live.transfer?.phase == .finished)
                #expect(end.message?.hasPrefix("birds-1000.bin finished") == true)
                let file = try #require(program.downloadedFiles.first)
                let bytes = try Data(contentsOf: file)
                #expect(
                    bytes.count == SamplePosts.attachmentSize
                        && bytes.indices.allSatisfy { bytes[$0] == UInt8($0 & 255) })
            }
        }
    }

    @Test(arguments: [
        ("a.bin", "a.bin"), ("../../.a", "a"), ("/etc/passwd", "passwd"), ("..", "attachment"), ("", "attachment"),
    ])
    func aServerChoosesNeitherTheFolderNorAHiddenName(name: String, file: String) {
        #expect(AttachmentDownloads.fileName(name) == file)
    }

    @Test func aCancelledDownloadLeavesNoFile() async throws {
        try await withProgram { program, states in
            program.send(.started)
            _ = try await states.first { !$0.posts.isEmpty }
            program.send(.command(.download(post: 997)))
            _ = try await states.first { ($0.live.transfer?.completed ?? 0) > 0 }
            program.send(.command(.cancel))
            let state = try await states.first { $0.live.transfer?.isActive == false }
            #expect(state.live.transfer?.phase == .cancelled)
            #expect(program.downloadedFiles.isEmpty)
            #expect(state.message == "birds-997.bin cancelled")
        }
    }

    @Test func aPictureIsUploadedAsAForm() async throws {
        try await withProgram { program, states in
            program.send(.started)
            _ = try await states.first { $0.avatars.count == SamplePosts.names.count }
            program.send(.command(.upload))
            let state = try await states.first { $0.live.transfer?.isActive == false }
            let transfer = try #require(state.live.transfer)
            #expect(transfer.phase == .finished)
            #expect(transfer.detail == "status 201")
            #expect(transfer.completed > 3_000_000)
            #expect(transfer.completed == transfer.total)
        }
    }

    @Test func withoutAConnectionTheErrorIsShown() async throws {
        try await withProgram(.offline) { program, states in
            program.send(.started)
            // The error and the network's status arrive in either order.
            let state = try await states.first { $0.message != nil && !$0.live.isNetworkReachable }
            #expect(state.isError)
            #expect(state.posts.isEmpty)
        }
    }

    @Test func anotherKeyIsRefused() async throws {
        try await withProgram(.badPin) { program, states in
            program.send(.started)
            let state = try await states.first { $0.message != nil }
            #expect(state.isError)
            #expect(state.message?.contains("seen: sha256/") == true)
        }
    }

    @Test func aFlakyServerIsAskedAgain() async throws {
        try await withProgram(.flaky) { program, states in
            program.send(.started)
            let state = try await states.first { !$0.posts.isEmpty }
            #expect(state.facts?.attempts == 2)
        }
    }

    @Test func theIndicatorIsShownForSlowRequests() async throws {
        try await withHeldTimeline { program, states, release in
            program.send(.started)
            let state = try await states.first { $0.live.isIndicatorVisible }
            #expect(state.facts == nil)
            release.fire()
            _ = try await states.first { $0.facts != nil }
        }
    }

    /// Runs a program with an empty timeline, which the server sends once the signal has fired.
    private func withHeldTimeline(_ body: (TimelineProgram, StateReader, Signal) async throws -> Void) async throws {
        let release = Signal()
        let handler: MockServer.Handler = { _ in
            await release.wait()
            var response = MockResponse.json(#"{"data":[]}"#)
            response.headerFields[.cacheControl] = "max-age=60"
            return response
        }
        try await withMockServer(handler: handler) { server in
            try await withFolder { folder in
                let client = try TimelineClient(baseURL: server.url, policy: .systemTrust)
                try await Self.run(.make(client, server: server.url, in: folder)) { try await body($0, $1, release) }
            }
        }
    }

    private func withProgram(
        _ misbehavior: Misbehavior = [], _ body: (TimelineProgram, StateReader) async throws -> Void
    ) async throws {
        try await withFolder { try await Self.withProgram(in: $0, misbehavior, body) }
    }

    /// Runs a program with a server of its own.
    private static func withProgram(
        in folder: URL, _ misbehavior: Misbehavior = [], _ body: (TimelineProgram, StateReader) async throws -> Void
    ) async throws {
        let server = try await EmbeddedServer.start(misbehavior)
        let network = misbehavior.contains(.offline) ? ReachabilityStatus.notReachable : .unknown
        let result: Result<Void, any Error>
        do {
            try await run(.make(for: server, in: folder, network: network), body)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await server.shutdown()
        try result.get()
    }

    private static func run(
        _ program: TimelineProgram, _ body: (TimelineProgram, StateReader) async throws -> Void
    ) async throws {
        let reader = StateReader(program)
        let result: Result<Void, any Error>
        do {
            try await body(program, reader)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await program.end()
        try result.get()
    }
}

/// Waits for states of a program.
@MainActor
final class StateReader {
    struct Ended: Error {}

    private let states: AsyncStream<TimelineState>

    init(_ program: TimelineProgram) {
        let (states, continuation) = AsyncStream.makeStream(of: TimelineState.self)
        self.states = states
        program.onChange = { continuation.yield($0) }
    }

    /// Returns the next unread state that fulfils a condition.
    func first(where condition: (TimelineState) -> Bool) async throws -> TimelineState {
        for await state in states where condition(state) { return state }
        throw Ended()
    }
}
