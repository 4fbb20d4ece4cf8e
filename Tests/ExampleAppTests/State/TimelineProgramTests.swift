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
            let client = try TimelineClient(baseURL: server.url, policy: .systemTrust)
            let program = TimelineProgram(
                client: client, server: server.url, pageSize: 20, network: .fixed(.unknown),
                size: TerminalSize(width: 80, height: 24))
            let reader = StateReader(program)
            let result: Result<Void, any Error>
            do {
                try await body(program, reader, release)
                result = .success(())
            } catch {
                result = .failure(error)
            }
            await program.end()
            try result.get()
        }
    }

    private func withProgram(
        _ misbehavior: Misbehavior = [], _ body: (TimelineProgram, StateReader) async throws -> Void
    ) async throws {
        let server = try await EmbeddedServer.start(misbehavior)
        let client = try TimelineClient(
            baseURL: server.url, policy: server.policy(for: TimelinePlan(arguments: [])))
        let network = NetworkSource.fixed(misbehavior.contains(.offline) ? .notReachable : .unknown)
        let program = TimelineProgram(
            client: client, server: server.url, pageSize: 20, network: network,
            size: TerminalSize(width: 80, height: 24))
        let reader = StateReader(program)
        let result: Result<Void, any Error>
        do {
            try await body(program, reader)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await program.end()
        await server.shutdown()
        try result.get()
        // The folder is kept only for files that were downloaded.
        #expect(FileManager.default.fileExists(atPath: program.folder.path) == !program.downloadedFiles.isEmpty)
        try? FileManager.default.removeItem(at: program.folder)
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
