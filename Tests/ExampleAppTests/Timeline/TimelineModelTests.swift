import FoundationEssentials
import Linnet
import LinnetImageSerialization
import LinnetTesting
import Synchronization
import Testing

@testable import ExampleApp

/// The model with the embedded server, without a face.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
@MainActor
struct TimelineModelTests {
    @Test func theTimelineItsPicturesAndTheFactsOfTheConnectionAreLoaded() async throws {
        try await withModel { model in
            model.perform(.refresh, on: nil)
            let posts = try await model.first { !$0.posts.isEmpty }.posts
            #expect(posts.count == 20)
            model.loadPictures(of: posts)
            let state = try await model.first { $0.avatars.count == SamplePosts.names.count }
            #expect(state.facts?.isPinned == true)
            #expect(state.facts?.cache == "miss")
            #expect(state.message == nil)
        }
    }

    @Test func refreshingIsShownWhileTheRequestRuns() async throws {
        try await withHeldTimeline { model, server, release in
            model.perform(.refresh, on: nil)
            try await model.first { $0.isRefreshing }
            // A running refresh is not repeated.
            model.perform(.refresh, on: nil)
            release.fire()
            try await model.first { !$0.isRefreshing && $0.facts != nil }
            #expect(server.recordedRequests.count == 1)
            model.perform(.refresh, on: nil)
            let state = try await model.first { $0.facts?.cache != "miss" && !$0.isRefreshing }
            #expect(["hit", "revalidated"].contains(state.facts?.cache))
        }
    }

    @Test func onlyPicturesOfPostsInViewAreLoaded() async throws {
        try await withTimeline { model, posts in
            model.loadPictures(of: posts.prefix(2))
            let state = try await model.first { $0.avatars.count == 2 && $0.requestCount == 0 }
            #expect(Set(state.avatars.keys) == Set(posts.prefix(2).map(\.user)))
            #expect(state.pictures.count == 2)
        }
    }

    @Test func loadedPicturesAreNotLoadedAgainAndPicturesWithoutPostsAreDropped() async throws {
        let png = try #require(try SampleAvatar.picture("ada")?.pngData())
        let count = Mutex(0)
        let handler: MockServer.Handler = { request in
            if request.path.hasSuffix(".png") {
                return MockResponse(headerFields: [.contentType: "image/png"], body: .bytes(png))
            }
            let number = count.withLock { count in
                count += 1
                return count
            }
            let names = number == 1 ? ["ada", "grace"] : ["ada"]
            let posts = names.map { name in
                let url = "http://\(request.authority ?? "")/\(name).png"
                return #"{"id":"7","text":"t","user":{"username":"\#(name)","avatar_image":{"url":"\#(url)"}}}"#
            }
            return .json(#"{"data":[\#(posts.joined(separator: ","))]}"#)
        }
        try await withMockServer(handler: handler) { server in
            try await withModel(of: server) { model in
                model.perform(.refresh, on: nil)
                let posts = try await model.first { !$0.posts.isEmpty }.posts
                #expect(posts.map(\.id) == [7, 7])
                model.loadPictures(of: posts)
                try await model.first { $0.avatars.count == 2 && !$0.isRefreshing }
                model.perform(.refresh, on: nil)
                let later = try await model.first { $0.posts.count == 1 && !$0.isRefreshing }
                model.loadPictures(of: later.posts)
                #expect(later.avatars.keys.map(\.username) == ["ada"])
                #expect(server.recordedRequests.count { $0.path == "/ada.png" } == 1)
            }
        }
    }

    @Test func morePostsThanRequestedAreDropped() async throws {
        let post = #"{"id":7,"text":"t","user":{"username":"u","avatar_image":{"url":"https://localhost/u.png"}}}"#
        try await withMockServer(.json(#"{"data":[\#(post),\#(post)]}"#)) { server in
            try await withModel(of: server, pageSize: 1) { model in
                model.perform(.refresh, on: nil)
                let state = try await model.first { !$0.posts.isEmpty }
                #expect(state.posts.count == 1)
                #expect(server.recordedRequests.first?.target == "/stream/0/posts/stream/global?count=1")
            }
        }
    }

    @Test func aFailureIsShownUntilTheNextSuccess() async throws {
        let isWorking = Mutex(false)
        let handler: MockServer.Handler = { _ in
            isWorking.withLock { $0 } ? .json(#"{"data":[]}"#) : .status(.notFound)
        }
        try await withMockServer(handler: handler) { server in
            try await withModel(of: server) { model in
                model.perform(.refresh, on: nil)
                let state = try await model.first { $0.message != nil && !$0.isRefreshing }
                #expect(state.isError && state.message?.contains("404") == true)
                isWorking.withLock { $0 = true }
                model.perform(.refresh, on: nil)
                let later = try await model.first { $0.facts != nil }
                #expect(!later.isError && later.message == "The timeline is empty.")
            }
        }
    }

    /// The slow server takes 28 seconds for the file.
    @Test func aDownloadIsSuspendedResumedAndCancelled() async throws {
        try await withTimeline([.slow]) { model, posts in
            model.perform(.suspend, on: posts[0])
            #expect(model.state.message == "No transfer is running.")
            model.perform(.download, on: posts[1])
            #expect(model.state.message == "This post has no attachment.")
            model.perform(.download, on: posts[0])
            try await model.first { ($0.transfer?.progress.completed ?? 0) > 0 }
            for command in [TimelineCommand.download, .upload] {
                model.perform(command, on: posts[0])
                #expect(model.state.message?.contains("cancel it first") == true)
            }
            model.perform(.suspend, on: posts[0])
            try await model.first { $0.transfer?.phase == .suspended }
            model.perform(.suspend, on: posts[0])
            try await model.first { $0.transfer?.phase == .running }
            model.perform(.cancel, on: nil)
            let state = try await model.first { $0.transfer?.isActive == false }
            #expect(state.transfer?.phase == .cancelled)
            #expect(model.downloadedFiles.isEmpty)
            #expect(state.message == "birds-1000.bin cancelled")
        }
    }

    /// The next run has another server, with another port and another key.
    @Test func aDownloadGoesOnInTheNextRun() async throws {
        try await withFolder { folder in
            var received: Int64 = 0
            try await Self.withModel(in: folder, [.slow]) { model in
                model.perform(.refresh, on: nil)
                let post = try await model.first { !$0.posts.isEmpty }.posts.first
                model.perform(.download, on: post)
                let state = try await model.first { ($0.transfer?.progress.completed ?? 0) > 100_000 }
                received = state.transfer?.progress.completed ?? 0
                #expect(model.download != nil && model.downloadedFiles.isEmpty)
            }
            try await Self.withModel(in: folder) { model in
                let state = try await model.first { $0.transfer != nil }
                #expect((state.transfer?.progress.completed ?? 0) >= received)
                let end = try await model.first { $0.transfer?.isActive == false }
                #expect(end.transfer?.phase == .finished)
                #expect(end.message?.hasPrefix("birds-1000.bin finished") == true)
                let file = try #require(model.downloadedFiles.first)
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
        #expect(Attachment(name: name, url: URL(filePath: "/"), size: 0).fileName == file)
    }

    @Test func aDownloadIsSaved() async throws {
        try await withTimeline { model, posts in
            model.perform(.download, on: posts.first { $0.id == 997 })
            let state = try await model.first { $0.transfer?.isActive == false }
            #expect(state.transfer?.phase == .finished)
            #expect(state.message?.hasPrefix("birds-997.bin finished") == true)
            let file = try #require(model.downloadedFiles.first)
            #expect(try Data(contentsOf: file).count == SamplePosts.attachmentSize)
        }
    }

    @Test func aPictureIsUploadedAsAForm() async throws {
        try await withTimeline { model, posts in
            model.loadPictures(of: posts.prefix(1))
            try await model.first { $0.avatars[posts[0].user] != nil }
            model.perform(.upload, on: posts[0])
            #expect(model.state.transfer?.phase == .running)
            model.perform(.suspend, on: posts[0])
            try await model.first { $0.transfer?.phase == .suspended }
            model.perform(.suspend, on: posts[0])
            let transfer = try #require(try await model.first { $0.transfer?.isActive == false }.transfer)
            #expect(transfer.phase == .finished)
            #expect(transfer.detail == "status 201")
            #expect(transfer.progress.completed > 500)
            #expect(transfer.progress.completed == transfer.progress.total)
        }
    }

    @Test func aFileOfTheUserIsUploaded() async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "a.txt")
            try Data(count: 100_000).write(to: file)
            try await withTimeline { model, _ in
                model.upload(file)
                let transfer = try #require(try await model.first { $0.transfer?.isActive == false }.transfer)
                #expect(transfer.phase == .finished && transfer.name == "a.txt" && transfer.isUpload)
                #expect(transfer.progress.completed > 100_000)
                model.upload(folder.appending(path: "missing"))
                #expect(model.state.isError && model.state.message?.hasPrefix("missing: ") == true)
            }
        }
    }

    @Test func theTimesOfTheLastRequestsAreShown() async throws {
        try await withTimeline { model, posts in
            let state = try await model.first { $0.waterfall.rows.contains { $0.name == "GET global" } }
            let row = try #require(state.waterfall.rows.first)
            #expect(row.figures.hasPrefix("200, "))
            for part in [RequestTrace.Part.connect, .handshake, .firstByte] {
                #expect(row.bars.contains { $0.part == part }, "\(row)")
            }
            #expect(row.bars.allSatisfy { (0...1).contains($0.start) && $0.start <= $0.end && $0.end <= 1 })
            model.perform(.refresh, on: nil)
            try await model.first {
                $0.waterfall.rows.contains { $0.figures == "from the cache" || $0.figures.hasPrefix("304") }
            }
        }
    }

    @Test func withoutAConnectionTheErrorIsShown() async throws {
        try await withModel([.offline]) { model in
            #expect(model.state.banner == "No network: not reachable")
            model.perform(.refresh, on: nil)
            let state = try await model.first { $0.message != nil }
            #expect(state.isError)
            #expect(state.posts.isEmpty)
        }
    }

    @Test func anotherKeyIsRefusedAndExplained() async throws {
        try await withModel([.badPin]) { model in
            model.perform(.refresh, on: nil)
            let state = try await model.first { $0.message != nil }
            #expect(state.isError)
            let refusal = try #require(state.refusal)
            let lines = TimelinePanel.pins.lines(state)
            for pin in refusal.seenPins + refusal.wantedPins { #expect(lines.contains("  \(pin)")) }
            #expect(!refusal.seenPins.isEmpty && refusal.wantedPins.count == 1)
            #expect(lines.last?.contains("another source confirms") == true)
        }
    }

    @Test func aFlakyServerIsAskedAgain() async throws {
        try await withModel([.flaky]) { model in
            model.perform(.refresh, on: nil)
            let state = try await model.first { !$0.posts.isEmpty }
            #expect(state.facts?.attempts == 2)
        }
    }

    @Test func theIndicatorIsShownForSlowRequests() async throws {
        try await withHeldTimeline { model, _, release in
            model.perform(.refresh, on: nil)
            let state = try await model.first { $0.isIndicatorVisible }
            #expect(state.facts == nil)
            release.fire()
            try await model.first { $0.facts != nil }
        }
    }

    @Test func aResponseOfTheCacheKeepsTheFactsOfTheConnection() {
        var response = SessionResponse(value: (), url: URL(filePath: "/"), head: HTTPResponse(status: .ok))
        response.cacheOutcome = .hit
        let facts = ResponseFacts(response, after: SampleState.facts)
        #expect(facts.httpVersion == "http/1.1")
        #expect(facts.isPinned && facts.pins == SampleState.facts.pins)
        #expect(facts.cache == "hit")
    }

    /// Runs a model with an empty timeline, which the server sends once the signal has fired.
    private func withHeldTimeline(_ body: (TimelineModel, MockServer, Signal) async throws -> Void) async throws {
        let release = Signal()
        let handler: MockServer.Handler = { _ in
            await release.wait()
            var response = MockResponse.json(#"{"data":[]}"#)
            response.headerFields[.cacheControl] = "max-age=60"
            return response
        }
        try await withMockServer(handler: handler) { server in
            try await withModel(of: server) { try await body($0, server, release) }
        }
    }

    private func withModel(
        of server: MockServer, pageSize: Int = 20, _ body: (TimelineModel) async throws -> Void
    ) async throws {
        try await withFolder { folder in
            let client = try TimelineClient(baseURL: server.url, policy: .systemTrust)
            try await TimelineModel.make(client, in: folder, pageSize: pageSize).use(body)
        }
    }

    /// Runs a model that has loaded the timeline of the embedded server.
    private func withTimeline(
        _ misbehavior: [Misbehavior] = [], _ body: (TimelineModel, [Post]) async throws -> Void
    ) async throws {
        try await withModel(misbehavior) { model in
            model.perform(.refresh, on: nil)
            try await body(model, try await model.first { !$0.posts.isEmpty }.posts)
        }
    }

    private func withModel(
        _ misbehavior: [Misbehavior] = [], _ body: (TimelineModel) async throws -> Void
    ) async throws {
        try await withFolder { try await Self.withModel(in: $0, misbehavior, body) }
    }

    /// Runs a model with a server of its own.
    private static func withModel(
        in folder: URL, _ misbehavior: [Misbehavior] = [], _ body: (TimelineModel) async throws -> Void
    ) async throws {
        let server = try await EmbeddedServer.start(misbehavior)
        let network = misbehavior.contains(.offline) ? ReachabilityStatus.notReachable : .unknown
        let result: Result<Void, any Error>
        do {
            try await TimelineModel.make(for: server, in: folder, network: network).use(body)
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await server.shutdown()
        try result.get()
    }
}
