import Foundation
import LinnetSecurity
import LinnetSession
import LinnetTesting
import LinnetTransport
import LinnetWebSocket
import Synchronization
import Testing

@Suite("A WebSocket that is opened again", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct ReconnectingWebSocketTests {
    typealias Frame = WebSocketPeer.Frame
    typealias Serve = @Sendable (RawConnection) async throws -> Void

    /// Serves each connection with the next closure, and closes later ones without an answer.
    private final class Script: Sendable {
        private let acts: [Serve]
        private let served = Mutex(0)

        init(_ acts: [Serve]) { self.acts = acts }

        var count: Int { served.withLock { $0 } }

        func serve(_ connection: RawConnection) async throws {
            let index = served.withLock { count in
                defer { count += 1 }
                return count
            }
            if index < acts.count { try await acts[index](connection) }
        }
    }

    /// Accepts, sends frames, and leaves.
    private static func sending(_ frames: Frame...) -> Serve {
        { connection in
            let peer = try await WebSocketPeer.accepted(on: connection)
            for frame in frames { try await peer.send(frame) }
        }
    }

    private static func answering(_ status: String) -> Serve {
        { connection in
            _ = try await WebSocketPeer.requested(on: connection)
            try await connection.write("HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n")
            while try await connection.read() != nil {}
        }
    }

    /// Sends each data frame back, and answers the Close frame.
    private static let echoing: Serve = { connection in
        let peer = try await WebSocketPeer.accepted(on: connection)
        var frames = peer.frames()
        while let frame = try await frames.next() {
            try await peer.send(frame)
            if frame.opcode == 8 { return }
        }
    }

    private func withScript(
        _ acts: [Serve], perform: (HTTPSession, Script) async throws -> Void
    ) async throws {
        let script = Script(acts)
        try await withPeer {
            try await script.serve($0)
        } perform: {
            try await perform($0, script)
        }
    }

    private func reconnecting(
        _ session: HTTPSession, clock: any Clock<Duration>, limit: Int = .max
    ) -> ReconnectingWebSocket {
        session.get("/chat").reconnectingWebSocket {
            $0.clock = clock
            $0.retryPolicy.limit = limit
            $0.retryPolicy.backoff.jitter = 0
        }
    }

    private static func text(_ event: ReconnectingWebSocket.Event) -> String {
        switch event {
        case .connected(let response): "\(response.status.code)"
        case .message(.text(let text)): text
        case .message(.binary(let bytes)): "\(bytes.count) bytes"
        case .disconnected(let error, let delay): "\(error.code), \(delay)"
        }
    }

    /// All events as texts, the last one being the error if there is one.
    private static func events(_ socket: ReconnectingWebSocket) async -> [String] {
        var events: [String] = []
        do {
            for try await event in socket { events.append(text(event)) }
        } catch {
            let underlying = (error.underlying as? SessionError).map { " \($0.code)" } ?? ""
            events.append("\(error.code)\(underlying)" + (error.closure.map { " \($0.code) \($0.reason)" } ?? ""))
        }
        return events
    }

    @Test func aLostConnectionIsOpenedAgain() async throws {
        try await withScript([
            Self.sending(.text("a")), Self.answering("503 Later\r\nConnection: close"),
            Self.sending(.text("b"), .close(1012)),
            Self.sending(.text("c"), .close(1000)),
        ]) { session, script async throws in
            let clock = ManualClock()
            let socket = reconnecting(session, clock: clock)
            let reading = Task { await Self.events(socket) }
            for seconds in [5, 10, 5] {
                try await clock.waitForSleepers(count: 1)
                let due = try #require(clock.nextDeadline)
                #expect(clock.now.duration(to: due) == .seconds(seconds))
                clock.advance(to: due)
            }
            #expect(
                await reading.value == [
                    "101", "a", "connectionLost, 5.0 seconds", "openingFailed, 10.0 seconds",
                    "101", "b", "closed, 5.0 seconds", "101", "c",
                ])
            #expect(script.count == 4)
            let error = await #expect(throws: WebSocketError.self) { try await socket.send("late") }
            #expect(error?.code == .closed)
            #expect(try await socket.close() == nil)
        }
    }

    @Test func nothingIsOpenedBeforeEventsAreRead() async throws {
        try await withScript([Self.echoing]) { session, script async throws in
            let socket = reconnecting(session, clock: ManualClock())
            let error = await #expect(throws: WebSocketError.self) { try await socket.send("early") }
            #expect(error?.code == .notConnected)
            #expect(try await socket.close() == nil)
            #expect(await Self.events(socket) == [])
            #expect(script.count == 0)
        }
    }

    @Test func messagesPassInBothDirectionsOnEachConnection() async throws {
        try await withScript([
            { connection in
                let peer = try await WebSocketPeer.accepted(on: connection)
                var frames = peer.frames()
                if let frame = try await frames.next() { try await peer.send(frame) }
            },
            Self.echoing,
        ]) { session, _ async throws in
            let clock = ManualClock()
            let socket = reconnecting(session, clock: clock)
            var connections = 0
            var received: [WebSocket.Message] = []
            for try await event in socket {
                switch event {
                case .connected:
                    connections += 1
                    try await socket.send("hello \(connections)")
                case .message(let message):
                    received.append(message)
                    guard connections == 2 else { continue }
                    if received.count == 2 {
                        try await socket.send(Data([1, 2, 3]))
                    } else {
                        #expect(try await socket.close(.goingAway)?.code == .goingAway)
                    }
                case .disconnected(_, let delay):
                    let error = await #expect(throws: WebSocketError.self) { try await socket.send("lost") }
                    #expect(error?.code == .notConnected)
                    // A manual clock resumes only tasks that sleep already.
                    Task {
                        try await clock.waitForSleepers(count: 1)
                        clock.advance(by: delay)
                    }
                }
            }
            #expect(received == [.text("hello 1"), .text("hello 2"), .binary(Data([1, 2, 3]))])
        }
    }

    // MARK: Ends

    @Test(arguments: [
        ("401 Unauthorized", "unacceptableStatus"), ("403 Forbidden", "unacceptableStatus"),
        ("101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket", "invalidResponse"),
    ])
    func aRefusalIsFinal(status: String, code: String) async throws {
        try await withScript([Self.answering(status)]) { session, script async throws in
            let socket = reconnecting(session, clock: ManualClock())
            #expect(await Self.events(socket) == ["openingFailed \(code)"])
            // The error is thrown again by other loops, and nothing is sent.
            #expect(await Self.events(socket) == ["openingFailed \(code)"])
            #expect(script.count == 1)
        }
    }

    @Test func aRefusedCertificateIsFinal() async throws {
        let pki = try TestPKI()
        let server = try await MockServer.startRaw(
            tls: try pki.identity { $0.addresses = ["127.0.0.1"] }, serve: Self.echoing)
        let anchors = try TrustAnchors.certificates([pki.root])
        let session = try HTTPSession(baseURL: server.url) {
            $0.securityPolicy = try .publicKeyPins([try TestPKI.selfSigned().pin], anchors: anchors)
        }
        #expect(await Self.events(reconnecting(session, clock: ManualClock())) == ["openingFailed trustRefused"])
        await session.shutdown()
        await server.shutdown()
    }

    @Test(arguments: [
        (Frame.close(1008, "banned"), "closed 1008 banned"), (.close(4001, "moved"), "closed 4001 moved"),
        (Frame(opcode: 3), "protocolViolation"), (Frame(opcode: 1, payload: [0xFF]), "invalidText"),
    ])
    func whatWouldHappenAgainIsFinal(frame: WebSocketPeer.Frame, end: String) async throws {
        try await withScript([Self.sending(frame)]) { session, script async throws in
            #expect(await Self.events(reconnecting(session, clock: ManualClock())) == ["101", end])
            #expect(script.count == 1)
        }
    }

    @Test func afterTooManyAttemptsTheLastErrorIsThrown() async throws {
        let busy = Self.answering("503 Busy\r\nConnection: close")
        try await withScript([Self.sending(.close(1001)), busy, busy]) { session, script async throws in
            let socket = session.get("/").reconnectingWebSocket {
                $0.retryPolicy.limit = 2
                $0.retryPolicy.backoff.first = .zero
            }
            #expect(
                await Self.events(socket) == [
                    "101", "closed, 0.0 seconds", "openingFailed, 0.0 seconds", "openingFailed unacceptableStatus",
                ])
            #expect(script.count == 3)
        }
    }

    @Test func aSessionThatIsShutDownIsFinal() async throws {
        try await withScript([]) { session, _ async throws in
            let socket = reconnecting(session, clock: ManualClock())
            await session.shutdown()
            #expect(await Self.events(socket) == ["openingFailed shutDown"])
        }
    }

    @Test func optionsThatCannotBeUsedAreFinal() async throws {
        try await withScript([]) { session, _ async throws in
            let socket = session.get("/").reconnectingWebSocket { $0.webSocket.maximumMessageSize = 0 }
            #expect(await Self.events(socket) == ["openingFailed invalidRequest"])
        }
    }

    // MARK: Close and cancellation

    @Test func closeEndsADelay() async throws {
        try await withScript([Self.sending()]) { session, _ async throws in
            let clock = ManualClock()
            let socket = reconnecting(session, clock: clock)
            let reading = Task { await Self.events(socket) }
            try await clock.waitForSleepers(count: 1)
            #expect(try await socket.close() == nil)
            #expect(await reading.value == ["101", "connectionLost, 5.0 seconds"])
            #expect(clock.sleepers == 0)
        }
    }

    @Test func closeEndsAnOpening() async throws {
        let (requests, continuation) = AsyncStream.makeStream(of: Void.self)
        try await withScript([
            { connection in
                _ = try await WebSocketPeer.requested(on: connection)
                continuation.finish()
                while try await connection.read() != nil {}
            }
        ]) { session, _ async throws in
            let socket = reconnecting(session, clock: ManualClock())
            let reading = Task { await Self.events(socket) }
            for await _ in requests {}
            #expect(try await socket.close() == nil)
            #expect(await reading.value == [])
        }
    }

    @Test func closeRefusesInvalidClosuresAndChangesNothing() async throws {
        try await withScript([Self.echoing]) { session, _ async throws in
            let socket = reconnecting(session, clock: ManualClock())
            var events = socket.makeAsyncIterator()
            _ = try await events.next()
            let code = WebSocket.CloseCode(rawValue: 1006)
            let error = await #expect(throws: WebSocketError.self) { try await socket.close(code) }
            #expect(error?.code == .invalidClosure)
            try await socket.send("still open")
            #expect(try await events.next().map(Self.text) == "still open")
            try await socket.close()
            #expect(try await events.next() == nil)
        }
    }

    @Test func aCancelledReaderKeepsTheConnectionForAnotherOne() async throws {
        try await withScript([Self.echoing]) { session, script async throws in
            let socket = reconnecting(session, clock: ManualClock())
            var events = socket.makeAsyncIterator()
            #expect(try await events.next().map(Self.text) == "101")
            let reading = Task { await Self.events(socket) }
            reading.cancel()
            #expect(await reading.value == ["cancelled"])
            try await socket.send("on")
            #expect(try await events.next().map(Self.text) == "on")
            try await socket.close()
            #expect(script.count == 1)
        }
    }

    @Test func aReaderThatIsCancelledInADelayLeavesTheAttemptToAnotherOne() async throws {
        try await withScript([Self.sending(), Self.sending(.close(1000))]) { session, _ async throws in
            let clock = ManualClock()
            let socket = reconnecting(session, clock: clock)
            let reading = Task { await Self.events(socket) }
            try await clock.waitForSleepers(count: 1)
            reading.cancel()
            #expect(await reading.value == ["101", "connectionLost, 5.0 seconds", "cancelled"])
            #expect(clock.sleepers == 0)
            let again = Task { await Self.events(socket) }
            try await clock.waitForSleepers(count: 1)
            clock.advance(by: .seconds(5))
            #expect(await again.value == ["101"])
        }
    }

    @Test func twoReadersAtATimeAreRefused() async throws {
        try await withScript([Self.sending()]) { session, _ async throws in
            let clock = ManualClock()
            let socket = reconnecting(session, clock: clock)
            let reading = Task { await Self.events(socket) }
            try await clock.waitForSleepers(count: 1)
            #expect(await Self.events(socket) == ["hasReader"])
            try await socket.close()
            #expect(await reading.value == ["101", "connectionLost, 5.0 seconds"])
        }
    }

    @Test func releasingTheWebSocketClosesTheConnection() async throws {
        try await withScript([
            { connection in
                let peer = try await WebSocketPeer.accepted(on: connection)
                var frames = peer.frames()
                #expect(try await frames.next()?.closeCode == 1001)
                try await peer.send(.close(1001))
            }
        ]) { session, script async throws in
            var events = reconnecting(session, clock: ManualClock()).makeAsyncIterator()
            #expect(try await events.next().map(Self.text) == "101")
            events = reconnecting(session, clock: ManualClock()).makeAsyncIterator()
            // Waits for the connection's end.
            await session.shutdown()
            #expect(script.count == 1)
        }
    }
}
