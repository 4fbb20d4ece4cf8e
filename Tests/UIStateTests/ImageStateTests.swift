import FoundationEssentials
import LinnetSession
import LinnetTesting
import LinnetUIState
import Testing

@MainActor
@Suite("Image state", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ImageStateTests {
    private let placeholder = Picture(name: "placeholder")

    @Test func thePlaceholderIsShownUntilTheImageIsLoaded() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let state = ImageState(downloader)
            #expect(state.image == nil && !state.phase.isLoading)
            state.load(try ImageRequest(path: "a"), placeholder: placeholder)
            #expect(state.image == placeholder && state.phase.isLoading)
            try await server.waitForRequests(1)
            server.answer("a")
            await until { !state.phase.isLoading }
            #expect(state.image?.name == "a")
        }
    }

    @Test func aCachedImageIsShownImmediately() async throws {
        let server = PictureServer(isOpen: true)
        try await withDownloader(of: server) { downloader in
            let request = try ImageRequest<Picture>(path: "a")
            _ = try await downloader.image(for: request)
            let state = ImageState(downloader)
            state.load(request, placeholder: placeholder)
            #expect(state.image?.name == "a")
            guard case .loaded = state.phase else { throw Missing() }
        }
    }

    @Test func aReusedStateNeverShowsTheFormerImage() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let state = ImageState(downloader)
            var shown: [String?] = []
            let reader = Task {
                for await status in state.statuses { shown.append(status.image?.name) }
            }
            state.load(try ImageRequest(path: "a"))
            try await server.waitForRequests(1)
            state.load(try ImageRequest(path: "b"))
            #expect(state.image == nil)
            try await server.waitForRequests(2)
            server.answer("a")
            server.answer("b")
            await until { !state.phase.isLoading }
            #expect(state.image?.name == "b")
            state.load(try ImageRequest(path: "c"))
            #expect(state.image == nil, "Without a placeholder, nothing is shown in place of the former image.")
            state.cancel()
            reader.cancel()
            await reader.value
            #expect(!shown.contains("a"))
        }
    }

    @Test func reuseCancelsTheFormerDownload() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let state = ImageState(downloader)
            state.load(try ImageRequest(path: "a"))
            try await server.waitForRequests(1)
            state.load(nil, placeholder: placeholder)
            #expect(state.image == placeholder && state.request == nil)
            await until { server.active == 0 }
        }
    }

    @Test func anEqualRequestContinues() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let state = ImageState(downloader)
            state.load(try ImageRequest(path: "a"))
            try await server.waitForRequests(1)
            state.load(try ImageRequest(path: "a"), placeholder: placeholder)
            #expect(state.phase.isLoading)
            server.answer("a")
            await until { state.image != nil }
            state.load(try ImageRequest(path: "a"), placeholder: placeholder)
            #expect(state.image?.name == "a")
            #expect(server.received == ["a"])
        }
    }

    @Test func anotherVariantKeepsTheDownload() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let state = ImageState(downloader)
            state.load(try ImageRequest(path: "a"))
            try await server.waitForRequests(1)
            state.load(try ImageRequest(path: "a", processors: [.tagged("small")]))
            server.answer("a")
            await until { state.image != nil }
            #expect(state.image?.name == "a+small" && server.received == ["a"])
        }
    }

    @Test func aFailureKeepsThePlaceholderAndCanBeRepeated() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let state = ImageState(downloader)
            state.load(try ImageRequest(path: "a"), placeholder: placeholder)
            try await server.waitForRequests(1)
            server.fail("a")
            await until { !state.phase.isLoading }
            #expect(state.phase.error?.code == .unacceptableStatus && state.image == placeholder)
            state.load(try ImageRequest(path: "a"), placeholder: placeholder)
            try await server.waitForRequests(2)
            server.answer("a")
            await until { state.image?.name == "a" }
        }
    }

    @Test func cancellingThenLoadingAgainWorks() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            let state = ImageState(downloader)
            state.load(try ImageRequest(path: "a"), placeholder: placeholder)
            state.cancel()
            #expect(state.image == placeholder && state.request == nil && state.phase.error == nil)
            state.load(try ImageRequest(path: "a"))
            server.open()
            await until { state.image?.name == "a" }
        }
    }

    @Test func aReleasedStateCancelsItsDownloadAndEndsItsStatuses() async throws {
        let server = PictureServer()
        try await withDownloader(of: server) { downloader in
            var state: ImageState<Picture>? = ImageState(downloader)
            let statuses = try #require(state?.statuses)
            state?.load(try ImageRequest(path: "a"))
            try await server.waitForRequests(1)
            state = nil
            await until { server.active == 0 }
            var last: ImageState<Picture>.Status?
            for await status in statuses { last = status }
            #expect(last?.phase.isLoading == true)
        }
    }

    @Test func progressIsShown() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(
            transport: StubTransport { _ in .stream(body, headerFields: [.contentLength: "10"]) })
        let downloader = ImageDownloader(session: session, serializer: .picture) {
            // Counts the bytes that have arrived; a whole body would be collected before it is counted.
            $0.previewDecoder = { _ in nil }
        }
        let state = ImageState(downloader)
        state.load(try ImageRequest(path: "a"))
        body.send("abcde")
        await until { state.progress.completed == 5 }
        #expect(state.progress.fraction == 0.5)
        body.send("fghij")
        body.finish()
        await until { state.image?.name == "abcdefghij" }
        #expect(state.progress.completed == 10)
        await session.shutdown(.immediate)
    }

    @Test func aButtonHasAnImageForEachStateAndFallsBackToNormal() async throws {
        let server = PictureServer(isOpen: true)
        try await withDownloader(of: server) { downloader in
            let button = ButtonImageState(downloader)
            button.image(for: .normal).load(try ImageRequest(path: "icon"))
            button.image(for: .selected).load(try ImageRequest(path: "chosen"))
            button.background(for: .disabled).load(try ImageRequest(path: "gray"))
            await until {
                button.image(for: .normal).image != nil && button.image(for: .selected).image != nil
                    && button.background(for: .disabled).image != nil
            }
            #expect(button.shownImage(for: .selected)?.name == "chosen")
            #expect(button.shownImage(for: .highlighted)?.name == "icon")
            #expect(button.shownBackground(for: .disabled)?.name == "gray")
            #expect(button.shownBackground(for: .normal) == nil)
            for state in ControlState.allCases {
                #expect(button.image(for: state) !== button.background(for: state))
            }
        }
    }
}
