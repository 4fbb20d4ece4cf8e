import LinnetMessages
import LinnetSecurity
import NIOCore
import NIOEmbedded
import Testing

@testable import LinnetTransport

/// Handshakes of servers that never answer, in virtual time.
@Suite("Turns of TLS handshakes", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct HandshakeTurnsTests {
    private static let limit = HandshakeLimit(places: 2, patience: .seconds(1))

    private final class Handshake {
        let channel: EmbeddedChannel
        private(set) var error: TransportError?

        init(_ connector: Connector, _ loop: EmbeddedEventLoop, _ serverName: String?, timeout: TimeAmount?) throws {
            channel = EmbeddedChannel(loop: loop)
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 443)).wait()
            connector.startTLS(
                on: channel, with: try #require(Origin("https://127.0.0.1")), policy: .systemTrust,
                until: timeout.map { loop.now + $0 }, TransportError(.tlsTimeout, "It took too long.")
            ) { _, promise, judge in
                TLSHandler(connector.tls, serverName: serverName, promise: promise, judge: judge)
            }.assumeIsolated().whenFailure { self.error = TransportError(translating: $0) }
        }

        /// Whether the ClientHello was sent.
        func hasBegun() -> Bool {
            let hello = try? channel.readOutbound(as: ByteBuffer.self)
            return (hello?.readableBytes ?? 0) > 100
        }
    }

    /// The handshakes that have begun since the last call.
    private func begun(_ handshakes: [Handshake]) -> [Int] {
        handshakes.indices.filter { handshakes[$0].hasBegun() }
    }

    private func withHandshakes(
        _ count: Int, timeout: TimeAmount? = nil, serverName: (Int) -> String? = { _ in nil },
        perform: (EmbeddedEventLoop, [Handshake]) throws -> Void
    ) throws {
        let loop = EmbeddedEventLoop()
        let connector = try Connector(TransportConfiguration(), group: loop, handshakes: Self.limit)
        let handshakes = try (0..<count).map { try Handshake(connector, loop, serverName($0), timeout: timeout) }
        try perform(loop, handshakes)
        for handshake in handshakes where handshake.channel.isActive { handshake.channel.close(promise: nil) }
        loop.advanceTime(by: .seconds(10))
        #expect(handshakes.allSatisfy { $0.error != nil })
    }

    @Test func aHandshakeBeginsWhenAnotherEnds() throws {
        try withHandshakes(4) { loop, handshakes in
            #expect(begun(handshakes) == [0, 1])
            handshakes[1].channel.close(promise: nil)
            loop.run()
            #expect(begun(handshakes) == [2])
        }
    }

    @Test func silentServersHoldUpOthersForALimitedTime() throws {
        try withHandshakes(50) { loop, handshakes in
            let first = begun(handshakes)
            loop.advanceTime(by: .milliseconds(999))
            let early = begun(handshakes)
            loop.advanceTime(by: .milliseconds(1))
            let others = begun(handshakes)
            #expect(first == [0, 1] && early.isEmpty && others == Array(2..<50))
            // They go on without a place.
            #expect(handshakes.allSatisfy { $0.channel.isActive && $0.error == nil })
        }
    }

    @Test func theTimeoutCountsFromTheConnection() throws {
        try withHandshakes(3, timeout: .milliseconds(500)) { loop, handshakes in
            loop.advanceTime(by: .milliseconds(500))
            #expect(handshakes.map(\.error?.code) == [.tlsTimeout, .tlsTimeout, .tlsTimeout])
            #expect(begun(handshakes) == [0, 1])
        }
    }

    @Test func aClosedChannelWaitsNoLonger() throws {
        try withHandshakes(4) { loop, handshakes in
            handshakes[2].channel.close(promise: nil)
            #expect(handshakes.map(\.error?.code) == [nil, nil, .connectionClosed, nil])
            handshakes[0].channel.close(promise: nil)
            loop.run()
            #expect(begun(handshakes) == [0, 1, 3])
        }
    }

    /// A handshake that fails when its turn comes passes the turn on, without a call in a call.
    @Test func manyHandshakesInARowMayFail() throws {
        let tooLong = String(repeating: "a", count: 300)
        try withHandshakes(3_000, serverName: { $0 < 2 ? nil : tooLong }) { loop, handshakes in
            handshakes[0].channel.close(promise: nil)
            loop.run()
            #expect(handshakes.dropFirst(2).allSatisfy { $0.error?.code == .tlsHandshakeFailed })
            #expect(handshakes[1].error == nil)
        }
    }
}
