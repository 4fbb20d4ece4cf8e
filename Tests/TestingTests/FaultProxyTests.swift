import FoundationEssentials
import HTTPTypes
import LinnetTesting
import Testing

/// The proxy that delays, slows and cuts. Its clients are curl and a plain socket.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct FaultProxyTests {
    private static let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

    private static func with(
        clock: any Clock<Duration> = ContinuousClock(), _ configure: (inout FaultProxy.Conditions) -> Void = { _ in },
        perform: (FaultProxy, MockServer) async throws -> Void
    ) async throws {
        try await withMockServer(.text("01234567")) { server in
            let proxy = try await FaultProxy.start(forwardingTo: server.port, clock: clock, configure)
            do {
                try await perform(proxy, server)
                await proxy.shutdown()
            } catch {
                await proxy.shutdown()
                throw error
            }
        }
    }

    @Test(
        .enabled(if: ForeignClient.hasCurl, "curl is not installed"), arguments: ["--proxytunnel", "--socks5-hostname"])
    func curlGoesThroughIt(_ way: String) async throws {
        try await withMockServer(.text("hello")) { server in
            let proxy = try await FaultProxy.start()
            let arguments =
                way == "--proxytunnel"
                ? [way, "--proxy", proxy.httpURL.absoluteString]
                : [
                    way, "127.0.0.1:\(proxy.port)",
                ]
            // curl's option for all clients of the tests would exempt the server from the proxy.
            let curl = try await ForeignClient.curl(
                arguments + ["--noproxy", "", "http://server.test:\(server.port)/a"])
            #expect(curl.output == "hello", "\(curl.errors)")
            #expect(proxy.acceptedConnections == 1)
            #expect(server.recordedRequests.map(\.path) == ["/a"])
            await proxy.shutdown()
        }
    }

    @Test func aRequestWithAnAbsoluteURLIsRefused() async throws {
        let proxy = try await FaultProxy.start()
        try await Conversation.with(port: proxy.port) { conversation in
            try await conversation.send("GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n")
            let answer = try await conversation.receive(through: "\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 405 "))
        }
        await proxy.shutdown()
    }

    @Test(arguments: [FaultProxy.Direction.fromClient, .fromServer], [MockServer.Fault.Effect.close, .reset])
    func aConnectionIsCutAtAByte(_ direction: FaultProxy.Direction, _ effect: MockServer.Fault.Effect) async throws {
        try await Self.with {
            $0.cut = .init(effect, after: 20, of: direction)
        } perform: { proxy, server in
            try await Conversation.with(port: proxy.port) { conversation in
                try await conversation.send(Self.request)
                #expect(await conversation.receiveToEnd() == (effect == .close ? .fin : .reset))
                if direction == .fromClient { #expect(conversation.received.isEmpty) }
                if direction == .fromServer, effect == .close {
                    #expect(conversation.received == "HTTP/1.1 200 OK\r\nCon")
                }
            }
            // The next one is whole.
            proxy.conditions = .init()
            try await Conversation.with(port: proxy.port) { conversation in
                try await conversation.send(Self.request)
                #expect(try await conversation.receive(through: "01234567").hasSuffix("01234567"))
            }
            #expect(proxy.acceptedConnections == 2)
        }
    }

    @Test func eachDirectionWaitsForTheLatency() async throws {
        let clock = ManualClock()
        try await Self.with(clock: clock) {
            $0.latency = .seconds(3)
        } perform: { proxy, server in
            try await Conversation.with(port: proxy.port) { conversation in
                try await conversation.send(Self.request)
                try await clock.waitForSleepers(count: 1)
                #expect(server.recordedRequests.isEmpty)
                clock.advance(by: .seconds(3))
                _ = try await server.nextRequest()
                try await clock.waitForSleepers(count: 1)
                clock.advance(by: .seconds(3))
                #expect(try await conversation.receive(through: "01234567").hasSuffix("01234567"))
            }
        }
    }

    @Test func theBandwidthIsLimited() async throws {
        let clock = ManualClock()
        try await Self.with(clock: clock) {
            $0.bytesPerSecond = 10
        } perform: { proxy, _ in
            try await Conversation.with(port: proxy.port) { conversation in
                try await conversation.send(Self.request)
                try await clock.waitForSleepers(count: 1)
                // 27 bytes at 10 a second.
                #expect(clock.nextDeadline == .init(offset: .milliseconds(2700)))
                proxy.conditions.bytesPerSecond = nil
                clock.advance(by: .seconds(3))
                #expect(try await conversation.receive(through: "01234567").hasSuffix("01234567"))
            }
        }
    }

    @Test func aDestinationThatRefusesIsAFailure() async throws {
        let server = try await MockServer.start { _ in .text("") }
        await server.shutdown()
        let proxy = try await FaultProxy.start(forwardingTo: server.port)
        try await Conversation.with(port: proxy.port) { conversation in
            _ = await conversation.receiveToEnd()
        }
        #expect(proxy.connectionFailures.count == 1)
        await proxy.shutdown()
    }

    @Test func aServerListensOnTheGivenPort() async throws {
        let server = try await MockServer.start { _ in .text("") }
        let taken = MockServer.Configuration { $0.port = server.port }
        await #expect(throws: TestingError.self) { try await MockServer.start(configuration: taken) { _ in .text("") } }
        let wrong = MockServer.Configuration { $0.port = 70_000 }
        let error = await #expect(throws: TestingError.self) {
            try await MockServer.start(configuration: wrong) { _ in .text("") }
        }
        #expect(error?.code == .invalidConfiguration)
        await server.shutdown()
        let again = try await MockServer.start(configuration: taken) { _ in .text("") }
        #expect(again.port == server.port)
        await again.shutdown()
    }
}
