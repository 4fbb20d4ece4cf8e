import FoundationEssentials
import Linnet
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct NginxResponseTests {
    private struct Page: Decodable, Sendable {
        struct Post: Decodable, Sendable {
            struct User: Decodable, Sendable {
                let username: String
            }

            let id: String
            let user: User
        }

        let data: [Post]
    }

    @Test(arguments: ServedFile.all, Surface.allCases)
    func getDeliversEveryByteOfAFile(file: ServedFile, surface: Surface) async throws {
        try await Server.plain.withSession { session in
            let response = try await surface.data(file.path, on: session)
            #expect(response.status == .ok)
            #expect(response.head.headerFields[.contentLength] == String(file.size))
            #expect(response.value.count == file.size)
            #expect(response.value == file.bytes)
            #expect(response.metrics.last?.responseBodyBytes == Int64(file.size))
        }
    }

    @Test(arguments: Surface.allCases)
    func headHasTheFieldsOfGetAndNoBody(surface: Surface) async throws {
        try await Server.plain.withSession { session in
            let head = try await surface.head("bytes-10m", on: session)
            #expect(head.status == .ok)
            #expect(head.head.headerFields[.contentLength] == String(ServedFile.large.size))
            #expect(head.value.isEmpty)
            let next = try await surface.data("1k", on: session)
            #expect(next.value == ServedFile.small.bytes)
            #expect(try ServedBy(next).connection == ServedBy(head).connection)
        }
    }

    @Test(arguments: [("absent", 404), ("error-500", 500)], Surface.allCases)
    func errorPagesFailWithTheirStatusAndBody(page: (path: String, status: Int), surface: Surface) async throws {
        try await Server.plain.withSession { session in
            let error = await #expect(throws: SessionError.self) { try await surface.data(page.path, on: session) }
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.head?.status.code == page.status)
            #expect(error?.body.map { String(decoding: $0, as: UTF8.self) }?.contains("<html>") == true)
            #expect(error?.metrics.count == 1)
        }
    }

    @Test(arguments: Surface.allCases)
    func noContentDecodesToNil(surface: Surface) async throws {
        try await Server.plain.withSession { session in
            let response = try await surface.send(.get, "empty", on: session)
            #expect(response.status == .noContent)
            #expect(response.value == nil)
        }
    }

    @Test(arguments: Surface.allCases)
    func aRedirectIsFollowed(surface: Surface) async throws {
        try await Server.plain.withSession { session in
            let response = try await surface.data("redirect", on: session)
            #expect(response.value.count == 1024)
            #expect(response.url.path == "/1k")
            #expect(response.redirects.map(\.status) == [.found])
        }
    }

    @Test func aPageOfPostsDecodes() async throws {
        try await Server.plain.withSession { session in
            let page = try await session.get("stream/0/posts/stream/global").value(as: Page.self)
            #expect(page.data.map(\.id) == (1...40).map(String.init))
            #expect(page.data.first?.user.username == "grace")
        }
    }

    @Test func anUnchangedFileIsNotSentAgain() async throws {
        try await Server.plain.withSession { session in
            let first = try await session.get("1k").response()
            let tag = try #require(first.head.headerFields[.eTag])
            let acceptsAll = DataResponseSerializer(validation: .none)
            let second = try await session.get("1k").headers([.ifNoneMatch: tag]).response(acceptsAll)
            #expect(second.status == .notModified)
            #expect(second.value.isEmpty)
            let third = try await session.get("1k").response()
            #expect(third.value == ServedFile.small.bytes)
            #expect(try ServedBy(third) == ServedBy(first, later: 2))
        }
    }

    @Test func aRangeRequestReturnsTheRequestedPartOfTheFile() async throws {
        try await Server.plain.withSession { session in
            let part = try await session.get("bytes-64k").headers([.range: "bytes=1000-1999"]).response()
            #expect(part.status == .partialContent)
            #expect(part.value == ServedFile.middle.bytes[1000..<2000])
        }
    }

    @Test func aConnectionThatTheServerClosesIsNotUsedAgain() async throws {
        try await Server.plain.withSession { session in
            var connections: Set<Int> = []
            for _ in 0..<5 {
                let response = try await session.get("closes").response(StringResponseSerializer())
                #expect(response.value == "closing\n")
                #expect(try connections.insert(ServedBy(response).connection).inserted)
            }
        }
    }

    @Test func eventsOfEachRequestArriveInOrder() async throws {
        try await Server.plain.withSession { session in
            var events = session.events.makeAsyncIterator()
            let task = session.call(.get, "1k").task()
            task.resume()
            _ = try await task.value
            var kinds: [String] = []
            while kinds.last != "completed", let event = await events.next() {
                #expect(event.taskID == task.id)
                switch event.kind {
                case .created: kinds.append("created")
                case .resumed: kinds.append("resumed")
                case .suspended: kinds.append("suspended")
                case .decided: kinds.append("decided")
                case .completed(let error):
                    #expect(error == nil)
                    kinds.append("completed")
                }
            }
            #expect(kinds == ["created", "resumed", "completed"])
        }
    }

    @Test func aRefusedConnectionFailsWithConnectionFailed() async throws {
        // No process listens on port 10, which is below the ephemeral ports.
        try await Server.plain.withSession(baseURL: URL(string: "http://127.0.0.1:1")) { session in
            let error = await #expect(throws: SessionError.self) {
                try await session.get("1k").response(JSONResponseSerializer())
            }
            #expect(error?.code == .connectionFailed)
        }
    }
}

extension ServedBy {
    /// The same connection with a later request.
    fileprivate init<Value>(_ response: SessionResponse<Value>, later: Int) throws {
        let earlier = try ServedBy(response)
        self.init(connection: earlier.connection, request: earlier.request + later)
    }

    private init(connection: Int, request: Int) {
        self.connection = connection
        self.request = request
    }
}
