import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

/// A session that chooses where its downloads go.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct DownloadHookTests {
    private struct NoPlace: Error {}

    private func session(status: Int = 200, _ configure: (inout TaskHooks) -> Void) throws -> HTTPSession {
        var configuration = HTTPSession.Configuration()
        configure(&configuration.hooks)
        return try HTTPSession(
            configuration: configuration,
            transport: StubTransport { _ in .status(.init(code: status), body: Data("abc".utf8)) })
    }

    @Test func theSessionsHookChoosesTheDestination() async throws {
        try await withScratchFolder { folder in
            let seen = EventRecorder<String>()
            let session = try session {
                $0.willPlaceDownload = { context, file, head in
                    // It is complete, and stays where it is.
                    seen.record(try String(contentsOf: file, encoding: .utf8))
                    seen.record("\(context.kind) \(head.status.code)")
                    return folder["elsewhere"]
                }
                $0.didFinishDownload = { _, file in seen.record(file.lastPathComponent) }
            }
            let response = try await session.call(makeRequest()).download(to: folder["file"])
            #expect(response.value.lastPathComponent == "elsewhere")
            #expect(folder.names == ["elsewhere"])
            // Hooks that only tell come on the callback executor, and so perhaps behind the next download's questions.
            #expect(try await seen.wait(count: 3) == ["abc", "download 200", "elsewhere"])
            let task = try session.call(makeRequest()).downloadTask(into: folder.url)
            task.resume()
            #expect(try await task.value.value.lastPathComponent == "elsewhere")
            #expect(folder.names == ["elsewhere"])
            let events = try await seen.wait(count: 6)
            #expect(events == ["abc", "download 200", "elsewhere", "abc", "download 200", "elsewhere"])
        }
    }

    @Test func nilSelectsTheRequestsDestination() async throws {
        try await withScratchFolder { folder in
            let session = try session { $0.willPlaceDownload = { _, _, _ in nil } }
            _ = try await session.call(makeRequest()).download(to: folder["file"])
            let task = try session.call(makeRequest()).downloadTask { _, _ in folder["chosen"] }
            task.resume()
            _ = try await task.value
            #expect(folder.names == ["chosen", "file"])
            #expect(try folder.text(of: "file") == "abc")
        }
    }

    @Test func onlyTheRequestsHookIsCalled() async throws {
        try await withScratchFolder { folder in
            let session = try session { $0.willPlaceDownload = { _, _, _ in folder["session"] } }
            var hooks = TaskHooks()
            hooks.willPlaceDownload = { _, _, _ in folder["own"] }
            _ = try await session.call(makeRequest()).hooks(hooks).download(to: folder["file"])
            #expect(folder.names == ["own"])
        }
    }

    @Test func theOptionsApplyToAChosenDestination() async throws {
        try await withScratchFolder { folder in
            try folder.write("old", to: "taken")
            let session = try session { $0.willPlaceDownload = { _, _, _ in folder["taken"] } }
            var options = DownloadOptions()
            options.existingFile = .fail
            options.synchronizes = true
            let error = await #expect(throws: SessionError.self) {
                try await session.call(makeRequest()).download(to: folder["file"], options: options)
            }
            #expect(error?.code == .fileFailed)
            options.existingFile = .keepBoth
            _ = try await session.call(makeRequest()).download(to: folder["file"], options: options)
            #expect(folder.names == ["taken", "taken (1)"])
        }
    }

    @Test func theHooksErrorFailsTheDownloadAndLeavesNothing() async throws {
        try await withScratchFolder { folder in
            let session = try session { $0.willPlaceDownload = { _, _, _ in throw NoPlace() } }
            let error = await #expect(throws: SessionError.self) {
                try await session.call(makeRequest()).download(to: folder["file"])
            }
            #expect(error?.code == .hookFailed)
            #expect(error?.underlying is NoPlace)
            #expect(folder.names.isEmpty)
        }
    }

    @Test func theHookIsNotCalledForAnErrorPage() async throws {
        try await withScratchFolder { folder in
            let session = try session(status: 404) { $0.willPlaceDownload = { _, _, _ in throw NoPlace() } }
            let error = await #expect(throws: SessionError.self) {
                try await session.call(makeRequest()).download(to: folder["file"])
            }
            #expect(error?.code == .unacceptableStatus)
        }
    }

    @Test func aTaskCanBeCancelledDuringTheHook() async throws {
        try await withScratchFolder { folder in
            let (asked, goOn) = (Signal(), Signal())
            let session = try session {
                $0.willPlaceDownload = { _, _, _ in
                    asked.fire()
                    await goOn.wait()
                    return folder["elsewhere"]
                }
            }
            let task = try session.call(makeRequest()).downloadTask(to: folder["file"])
            task.resume()
            await asked.wait()
            task.cancel()
            goOn.fire()
            #expect(await failure(of: task)?.code == .cancelled)
            #expect(folder.names.isEmpty)
        }
    }

    @Test func theHookIsCalledForAResponseThatBecameADownload() async throws {
        try await withScratchFolder { folder in
            let session = try session {
                $0.didReceiveResponse = { _, _ in .becomeDownload(to: folder["file"]) }
                $0.willPlaceDownload = { _, _, _ in folder["elsewhere"] }
            }
            let error = await #expect(throws: SessionError.self) { try await session.call(makeRequest()).response() }
            #expect(error?.code == .takenByHook)
            #expect(folder.names == ["elsewhere"])
        }
    }
}
