import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetUIState
import Testing

/// The states of a task that a spinner and a refresh control show alike.
@MainActor
enum BusyState: CaseIterable {
    case refresh
    case activity

    func make() -> (follow: ((any SessionTask)?) -> Void, isBusy: () -> Bool, states: AsyncStream<Bool>) {
        switch self {
        case .refresh:
            let state = RefreshState()
            return ({ state.follow($0) }, { state.isRefreshing }, state.states)
        case .activity:
            let state = ActivityState()
            return ({ state.follow($0) }, { state.isAnimating }, state.states)
        }
    }
}

@MainActor
@Suite("States of a task", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct TaskStateTests {
    /// A session with requests that wait for `release`.
    private func session(until release: Signal) throws -> HTTPSession {
        try HTTPSession(
            transport: StubTransport { _ in
                await release.wait()
                return .status(.ok)
            })
    }

    private func task(_ session: HTTPSession) throws -> DataTask<Data> {
        session.call(SessionRequest(url: try #require(URL(string: "http://stub.test/")))).task()
    }

    @Test(arguments: BusyState.allCases)
    func aStateFollowsATaskFromItsStartToItsEnd(_ kind: BusyState) async throws {
        let release = Signal()
        let session = try session(until: release)
        let (follow, isBusy, states) = kind.make()
        let task = try task(session)
        follow(task)
        #expect(!isBusy())
        task.resume()
        await until { isBusy() }
        task.suspend()
        await until { !isBusy() }
        task.resume()
        await until { isBusy() }
        var reader = states.makeAsyncIterator()
        #expect(await reader.next() == true)
        release.fire()
        _ = try await task.value
        await until { !isBusy() }
        #expect(await reader.next() == false)
        await session.shutdown()
    }

    @Test(arguments: BusyState.allCases)
    func aStateIsRightAtOnceForARunningSuspendedOrEndedTask(_ kind: BusyState) async throws {
        let release = Signal()
        let session = try session(until: release)
        let (follow, isBusy, _) = kind.make()
        let (running, suspended, waiting) = (try task(session), try task(session), try task(session))
        running.resume()
        suspended.resume()
        suspended.suspend()
        follow(running)
        #expect(isBusy())
        follow(suspended)
        #expect(!isBusy())
        follow(running)
        #expect(isBusy())
        follow(waiting)
        #expect(!isBusy())
        follow(running)
        follow(nil)
        #expect(!isBusy())
        suspended.cancel()
        release.fire()
        _ = try await running.value
        follow(running)
        #expect(!isBusy())
        // The end of a task that is no longer followed changes nothing.
        let other = try task(session)
        follow(other)
        other.resume()
        _ = try await other.value
        await until { !isBusy() }
        await session.shutdown(.immediate)
    }

    @Test(arguments: BusyState.allCases)
    func taskAndStateDoNotRetainEachOther(_ kind: BusyState) async throws {
        let release = Signal()
        let session = try session(until: release)
        weak var released: DataTask<Data>?
        let (follow, isBusy, _) = kind.make()
        do {
            let task = try task(session)
            released = task
            follow(task)
        }
        await until { released == nil }
        #expect(!isBusy())
        // A state that is released before the end of its task; the trait counts the remaining objects.
        let task = try task(session)
        kind.make().follow(task)
        task.resume()
        release.fire()
        _ = try await task.value
        await session.shutdown()
    }

    @Test func progressFollowsADownload() async throws {
        let body = StubTransport.Body()
        let session = try HTTPSession(
            transport: StubTransport { _ in .stream(body, headerFields: [.contentLength: "10"]) })
        let bar = TransferProgressState()
        let task = session.call(SessionRequest(url: try #require(URL(string: "http://stub.test/")))).streamTask()
        bar.follow(task)
        #expect(bar.fraction == 0 && bar.progress.total == nil)
        task.resume()
        let reader = Task {
            for try await _ in try await task.response.body {}
        }
        body.send("abcde")
        await until { bar.progress.completed == 5 }
        #expect(bar.fraction == 0.5)
        let late = TransferProgressState()
        late.follow(task)
        #expect(late.progress.completed == 5, "A task that runs is shown as it is.")
        body.send("fghij")
        body.finish()
        try await reader.value
        _ = try await task.value
        await until { bar.fraction == 1 }
        let ended = TransferProgressState()
        ended.follow(task)
        #expect(ended.fraction == 1 && ended.progress.completed == 10)
        await session.shutdown()
    }

    @Test func progressFollowsAnUploadAndCanBeRebound() async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .status(.ok, body: Data("answer".utf8)) })
        let url = try #require(URL(string: "http://stub.test/"))
        let upload = session.call(SessionRequest(url: url, method: .post)).body(.data(Data(count: 1000))).task()
        let bar = TransferProgressState()
        bar.follow(upload, .upload)
        upload.resume()
        _ = try await upload.value
        await until { bar.fraction == 1 }
        #expect(bar.progress.completed == 1000)
        let other = try task(session)
        bar.follow(other, .upload)
        #expect(bar.progress.completed == 0)
        bar.follow(upload, .download)
        #expect(bar.progress.completed == 6)
        bar.follow(nil)
        #expect(bar.progress == TransferProgress())
        await session.shutdown(.immediate)
    }
}

@MainActor
@Suite("Web content", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct WebContentStateTests {
    private let page = "http://stub.test/page"

    private func session(_ type: String?) throws -> HTTPSession {
        var fields = HTTPFields()
        fields[.contentType] = type
        let response = StubTransport.Response.status(.ok, headerFields: fields, body: Data("<p>text</p>".utf8))
        return try HTTPSession(transport: StubTransport { _ in response })
    }

    private func request() throws -> SessionRequest { SessionRequest(url: try #require(URL(string: page))) }

    private func loaded(_ state: WebContentState) async throws -> WebContentState.Content {
        await until { if case .loading = state.phase { false } else { true } }
        return try #require(state.content)
    }

    @Test func theTypeAndTheEncodingComeFromTheResponse() async throws {
        let session = try session("Text/HTML; charset=ISO-8859-1")
        let state = WebContentState(session)
        state.load(try request())
        let content = try await loaded(state)
        #expect(content.mimeType == "text/html" && content.textEncodingName == "ISO-8859-1")
        #expect(content.data == Data("<p>text</p>".utf8) && content.baseURL.absoluteString == page)
        #expect(state.progress.fraction == 1)
        await session.shutdown()
    }

    @Test func givenTypeAndEncodingWin() async throws {
        let session = try session("text/plain; charset=utf-8")
        let state = WebContentState(session)
        state.load(try request(), mimeType: "text/html", textEncodingName: "utf-16")
        let content = try await loaded(state)
        #expect(content.mimeType == "text/html" && content.textEncodingName == "utf-16")
        let other = try self.session(nil)
        let untyped = WebContentState(other)
        untyped.load(try request())
        let plain = try await loaded(untyped)
        #expect(plain.mimeType == nil && plain.textEncodingName == nil)
        await session.shutdown()
        await other.shutdown()
    }

    @Test func theTransformsResultIsTheContent() async throws {
        let session = try session("text/html")
        let state = WebContentState(session)
        state.load(try request()) { response in Data("<h1>".utf8) + response.data }
        #expect(try await loaded(state).data == Data("<h1><p>text</p>".utf8))
        struct Refusal: Error {}
        state.load(try request()) { _ in throw Refusal() }
        await until { if case .failed = state.phase { true } else { false } }
        guard case .failed(let error) = state.phase else { throw Missing() }
        #expect(error.code == .decodingFailed && error.underlying is Refusal)
        #expect(state.content != nil, "The page that was shown remains.")
        await session.shutdown()
    }

    @Test func loadingAnotherPageCancelsTheFirst() async throws {
        let arrived = Signal()
        let release = Signal()
        let session = try HTTPSession(
            transport: StubTransport { request in
                if request.head.path == "/slow" {
                    arrived.fire()
                    await release.wait()
                }
                return .status(.ok, body: Data((request.head.path ?? "").utf8))
            })
        let state = WebContentState(session)
        state.load(SessionRequest(url: try #require(URL(string: "http://stub.test/slow"))))
        await arrived.wait()
        state.load(try request())
        #expect(try await loaded(state).data == Data("/page".utf8))
        release.fire()
        state.cancel()
        guard case .loaded = state.phase else { throw Missing() }
        state.load(SessionRequest(url: try #require(URL(string: "http://stub.test/slow"))))
        state.cancel()
        guard case .loaded = state.phase else { throw Missing() }
        await session.shutdown(.immediate)
    }

    @Test func anErrorPageIsAFailure() async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .status(.notFound) })
        let state = WebContentState(session)
        state.load(try request())
        await until { if case .failed = state.phase { true } else { false } }
        #expect(state.content == nil)
        await session.shutdown()
    }
}
