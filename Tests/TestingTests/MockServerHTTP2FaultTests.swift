import FoundationEssentials
import LinnetTesting
import NIOCore
import Testing

/// Faults over HTTP/2.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct MockServerHTTP2FaultTests {
    typealias Fault = MockServer.Fault

    private static func withServer(
        _ configure: (inout MockServer.Configuration) -> Void = { _ in },
        handler: @escaping MockServer.Handler = { _ in MockResponse(body: .text("01234567")) },
        perform: (MockServer) async throws -> Void
    ) async throws {
        let configuration = MockServer.Configuration {
            $0.httpVersions = .http2
            configure(&$0)
        }
        try await withMockServer(configuration: configuration, handler: handler, perform: perform)
    }

    private static let points: [(Fault.Trigger, [String])] = [
        (.requestHead, []), (.requestBody(after: 2), []), (.responseHead, []),
        (.responseBody(after: 0), ["1 200"]), (.responseBody(after: 5), ["1 200", "1 data 5"]),
        (.responseBody(after: 99), ["1 200", "1 data 8"]),
    ]

    @Test(arguments: points) func aStreamIsResetAndOthersContinue(_ trigger: Fault.Trigger, _ before: [String])
        async throws
    {
        let fault = Fault(.resetStream(.enhanceYourCalm), at: trigger)
        try await Self.withServer { configuration in
            configuration.faults = .init { $0.request?.streamID == 1 ? [fault] : [] }
        } perform: { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.post(1, [ByteBuffer(string: "abcd")])
                #expect(try await client.receive(until: "1 reset 11"))
                #expect(client.frames(1) == before + ["1 reset 11"])
                try await client.get(3)
                #expect(try await client.receive(until: "3 data 8 end"))
            }
            // A request that met a fault is recorded after its stream has closed.
            for _ in 0..<2 { _ = try await server.nextRequest() }
            #expect(server.connectionFailures.isEmpty)
        }
    }

    @Test func aBodyThatThrowsResetsItsStream() async throws {
        struct Broken: Error {}
        let pieces = AsyncThrowingStream<Data, any Error> {
            $0.yield(Data("ab".utf8))
            $0.finish(throwing: Broken())
        }
        try await Self.withServer(handler: { _ in MockResponse(body: .stream(pieces)) }) { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1)
                #expect(try await client.receive(until: "1 reset 2"))
                #expect(client.body(1) == "ab")
            }
        }
    }

    @Test(arguments: [Fault.Effect.close, .truncate, .reset, .halfClose])
    func theEndOfAConnectionEndsItsStreams(_ effect: Fault.Effect) async throws {
        try await Self.withServer { configuration in
            configuration.faults = .path("/end", Fault(effect, at: .responseBody(after: 3)))
        } handler: { request in
            if request.path == "/wait" { try? await ManualClock().sleep(for: .seconds(1)) }
            return MockResponse(body: .text("01234567"))
        } perform: { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1, path: "/wait")
                _ = try await server.nextRequest()
                try await client.get(3, path: "/end")
                await client.receiveToEnd()
                #expect(client.frames(1).isEmpty)
                // A reset can discard bytes that were sent before it.
                let frames = client.frames(3)
                #expect(frames == ["3 200", "3 data 3"] || (effect == .reset && frames.count < 2))
            }
        }
    }

    @Test func aStalledStreamDoesNotStallOthers() async throws {
        try await Self.withServer { configuration in
            configuration.faults = .path("/stall", Fault(.stall, at: .responseBody(after: 3)))
        } perform: { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1, path: "/stall")
                #expect(try await client.receive(until: "1 data 3"))
                try await client.get(3)
                #expect(try await client.receive(until: "3 data 8 end"))
                async let end: Void = server.shutdown()
                await client.receiveToEnd()
                #expect(client.frames(1) == ["1 200", "1 data 3"])
                await end
            }
        }
    }

    @Test func aStalledConnectionAnswersNoPing() async throws {
        try await Self.withServer { configuration in
            configuration.faults = .path("/stall", Fault(.stallConnection, at: .requestHead))
            configuration.requestBodies = .streamed
        } perform: { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.ping(1)
                #expect(try await client.receive(until: "pong 1"))
                try await client.get(1, path: "/stall")
                _ = try await server.nextRequest()
                try await client.ping(2)
                try await client.get(3)
                async let end: Void = server.shutdown()
                await client.receiveToEnd()
                #expect(client.frames(1).isEmpty)
                #expect(client.frames(3).isEmpty)
                await end
            }
        }
    }

    @Test func aDelayedStreamDoesNotDelayOthers() async throws {
        let clock = ManualClock()
        try await Self.withServer { configuration in
            configuration.faults = .path("/late", Fault(.delay(.seconds(5)), at: .responseHead))
            configuration.clock = clock
        } perform: { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1, path: "/late")
                try await clock.waitForSleepers(count: 1)
                try await client.get(3)
                #expect(try await client.receive(until: "3 data 8 end"))
                #expect(client.frames(1).isEmpty)
                clock.advance(by: .seconds(5))
                #expect(try await client.receive(until: "1 data 8 end"))
            }
        }
    }

    @Test func aRefusedStreamIsNotRecorded() async throws {
        try await Self.withServer {
            $0.http2.refusedStreams = [1]
        } perform: { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1, 3, 5)
                for end in ["1 data 8 end", "5 data 8 end"] where !client.frames(5).contains(end) {
                    try await client.receive(until: end)
                }
                #expect(client.frames(3) == ["3 reset 7"])
            }
            #expect(Set(server.recordedRequests.map(\.streamID)) == [1, 5])
        }
    }

    @Test func goAwayNamesTheLastStreamAndLaterOnesAreRefused() async throws {
        try await Self.withServer {
            $0.http2.goAway = .after(2, errorCode: .enhanceYourCalm)
        } perform: { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1, 3, 5, 7)
                await client.receiveToEnd()
                #expect(client.frames(0).contains("goaway 3 11"))
                #expect(client.frames(1).last == "1 data 8 end")
                #expect(client.frames(3).last == "3 data 8 end")
                // NIO's client closes the streams above the last one as soon as it reads GOAWAY.
                #expect(client.frames(5).allSatisfy { $0 == "5 reset 7" })
            }
            #expect(Set(server.recordedRequests.map(\.streamID)) == [1, 3])
            #expect(server.connectionFailures.isEmpty)
        }
    }

    @Test func lateStreamsCanBeIgnored() async throws {
        let answers = Signal()
        try await Self.withServer {
            $0.http2.goAway = .after(1)
            $0.http2.refusesLateStreams = false
        } handler: { _ in
            await answers.wait()
            return MockResponse(body: .text("01234567"))
        } perform: { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1, 3)
                #expect(try await client.receive(until: "goaway 1 0"))
                answers.fire()
                await client.receiveToEnd()
                #expect(client.frames(1).last == "1 data 8 end")
                #expect(client.frames(3).isEmpty)
            }
            #expect(server.recordedRequests.map(\.streamID) == [1])
        }
    }

    @Test func aResponseCanEndItsConnection() async throws {
        try await Self.withServer(handler: { _ in
            MockResponse(body: .text("01234567"), closesConnection: true)
        }) { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1)
                await client.receiveToEnd()
                #expect(client.frames(0).contains("goaway 1 0"))
                #expect(client.frames(1) == ["1 200", "1 data 8 end"])
            }
        }
    }

    @Test func goAwayAsAFaultLetsTheExchangeContinue() async throws {
        try await Self.withServer { configuration in
            configuration.faults = .path("/last", Fault(.goAway(.noError), at: .responseBody(after: 3)))
        } perform: { server in
            try await FrameClient.with(port: server.port) { client in
                try await client.get(1)
                #expect(try await client.receive(until: "1 data 8 end"))
                try await client.get(3, path: "/last")
                await client.receiveToEnd()
                #expect(client.frames(0).contains("goaway 3 0"))
                #expect(client.frames(3) == ["3 200", "3 data 3", "3 data 5 end"])
            }
        }
    }
}
