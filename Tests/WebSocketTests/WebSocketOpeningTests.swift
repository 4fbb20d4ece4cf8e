import Foundation
import HTTPTypes
import LinnetSession
import LinnetTesting
import LinnetTransport
import LinnetWebSocket
import Testing

@Suite("Opening a WebSocket through a session", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct WebSocketOpeningTests {
    /// Writes a response to the first request, and reads on until the client leaves.
    private func answering(_ response: String) -> @Sendable (RawConnection) async throws -> Void {
        {
            _ = try await WebSocketPeer.requested(on: $0)
            try await $0.write(response)
            while try await $0.read() != nil {}
        }
    }

    private func failure(
        of call: (HTTPSession) -> HTTPCall = { $0.get("/") }, _ response: String
    ) async throws -> SessionError? {
        try await withPeer(serve: answering(response)) { session in
            let error = await #expect(throws: SessionError.self) { _ = try await call(session).webSocket() }
            return error
        }
    }

    @Test func anotherAnswerIsAnUnacceptableStatus() async throws {
        let error = try await failure("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone")
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.head?.status == .notFound)
        #expect(error?.body.map { String(decoding: $0, as: UTF8.self) } == "gone")
        let fine = try await failure("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine")
        #expect(fine?.code == .unacceptableStatus)
    }

    @Test(arguments: [
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nUpgrade: websocket\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
    ])
    func awrongHandshakeIsAnInvalidResponse(response: String) async throws {
        #expect(try await failure(response)?.code == .invalidResponse)
    }

    /// A 101 has no content (RFC 9110, 15.2), so that there is nothing to decode.
    @Test(arguments: ["gzip", "no-such-coding"])
    func aCodingNamedByThe101ChangesNothing(coding: String) async throws {
        try await withPeer {
            let fields = ["Content-Encoding: \(coding)", "Content-Length: 100"]
            let peer = try await WebSocketPeer.accepted(on: $0, fields: fields)
            var frames = peer.frames()
            while let frame = try await frames.next() { try await peer.send(frame) }
        } perform: { session in
            let socket = try await session.get("/").webSocket()
            try await socket.send("plain")
            var messages = socket.messages.makeAsyncIterator()
            #expect(try await messages.next() == .text("plain"))
            try await socket.close()
        }
    }

    /// A plain request is answered with 101.
    @Test func anUnrequestedSwitchIsAnInvalidResponse() async throws {
        let response = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        try await withPeer(serve: answering(response)) { session in
            let error = await #expect(throws: SessionError.self) { try await session.get("/").response() }
            #expect(error?.code == .invalidResponse)
        }
    }

    @Test func aServerThatDoesNotAnswerIsATimeout() async throws {
        try await withPeer {
            while try await $0.read() != nil {}
        } perform: { session in
            let call = session.get("/").timeout(.milliseconds(50))
            let error = await #expect(throws: SessionError.self) { _ = try await call.webSocket() }
            #expect(error?.code == .timeout)
        }
    }

    @Test func theTimeoutEndsWithTheHandshake() async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0)
            var frames = peer.frames()
            // After the timeout of the call, as the client's clock says.
            while let frame = try await frames.next() { try await peer.send(frame) }
        } perform: { session in
            let (socket, timeoutEnd) = try await openWithTimeout(session)
            var messages = socket.messages.makeAsyncIterator()
            while ContinuousClock.now < timeoutEnd {
                try await socket.send("on")
                #expect(try await messages.next() == .text("on"))
            }
            try await socket.close()
        }
    }

    /// Opens a WebSocket; returns it with a time when the timeout of its call has passed. On a busy machine the
    /// handshake can take longer than the first timeouts.
    private func openWithTimeout(_ session: HTTPSession) async throws -> (WebSocket, ContinuousClock.Instant) {
        var timeout = Duration.milliseconds(300)
        while true {
            let start = ContinuousClock.now
            do throws(SessionError) {
                return (try await session.get("/").timeout(timeout).webSocket(), start + timeout * 1.2)
            } catch {
                guard error.code == .timeout, timeout < .seconds(10) else { throw error }
                timeout = timeout * 4
            }
        }
    }

    @Test func credentialsAndCookiesAreSentWithTheHandshake() async throws {
        try await withPeer { connection in
            let first = try await WebSocketPeer.requested(on: connection)
            #expect(first.field("Authorization") == nil)
            try await connection.write(
                "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"lab\"\r\nSet-Cookie: id=7\r\nContent-Length: 0\r\n\r\n"
            )
            let second = try await WebSocketPeer.requested(on: connection)
            #expect(second.field("Authorization")?.hasPrefix("Basic ") == true)
            #expect(second.field("Cookie") == "id=7")
            try await second.accept()
            try await second.send(.close(1000))
        } perform: { session in
            let credentials = CredentialStore()
            let origin = try #require(session.baseURL.flatMap { try? Origin($0) })
            try credentials.set(.basic(username: "ada", password: "pass"), for: ProtectionSpace(origin: origin))
            let own = try HTTPSession(baseURL: session.baseURL) {
                $0.credentialStore = credentials
                $0.cookieJar = CookieJar()
            }
            let socket = try await own.get("/").webSocket()
            for try await message in socket.messages { Issue.record("\(message)") }
            await own.shutdown()
        }
    }

    @Test func webSocketSchemesMeanHTTP() async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.accepted(on: $0)
            try await peer.send(.close(1000))
        } perform: { session in
            let url = try #require(session.baseURL?.absoluteString)
            let text = url.replacingOccurrences(of: "http:", with: "WS:")
            for call in [session.get(text), session.call(SessionRequest(url: try #require(URL(string: text))))] {
                try await call.webSocket().close()
            }
        }
    }

    @Test func unsuitableCallsAreInvalidRequests() async throws {
        try await withPeer(serve: answering("")) { session in
            for call in [session.post("/"), session.get("/").body(.data(Data([1])))] {
                let error = await #expect(throws: SessionError.self) { _ = try await call.webSocket() }
                #expect(error?.code == .invalidRequest)
            }
            let error = await #expect(throws: SessionError.self) {
                _ = try await session.get("/").webSocket { $0.subprotocols = ["a b"] }
            }
            #expect(error?.code == .invalidRequest)
        }
        let session = try HTTPSession { $0.httpVersions = .http2 }
        let error = await #expect(throws: SessionError.self) {
            _ = try await session.get("http://127.0.0.1:9/").webSocket()
        }
        #expect(error?.code == .invalidRequest)
        await session.shutdown()
    }

    /// One to an origin and in all; requests go on beside open WebSockets.
    @Test func webSocketsDoNotCountInThePool() async throws {
        try await withPeer {
            let peer = try await WebSocketPeer.requested(on: $0)
            guard peer.field("Upgrade") != nil else {
                return try await $0.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
            }
            try await peer.accept()
            var frames = peer.frames()
            if let frame = try await frames.next() { try await peer.send(frame) }
        } perform: { session in
            let own = try HTTPSession(baseURL: session.baseURL) {
                $0.pool.connectionsPerOrigin = 1
                $0.pool.connections = 1
            }
            var sockets: [WebSocket] = []
            for _ in 0..<5 { sockets.append(try await own.get("/").webSocket()) }
            #expect(try await own.get("/").text() == "ok")
            for socket in sockets { try await socket.close() }
            await own.shutdown()
        }
    }
}
