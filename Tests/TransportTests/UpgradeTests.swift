import FoundationEssentials
import HTTPTypes
import LinnetTesting
import NIOCore
import Synchronization
import Testing

@testable import LinnetTransport

/// Connections that switch to another protocol (RFC 9110, 7.8).
@Suite("Upgraded connections", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct UpgradeTests {
    /// Says goodbye when it is asked to end.
    private final class Goodbye: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        func channelReadComplete(context: ChannelHandlerContext) { context.read() }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard event is ChannelShouldQuiesceEvent else { return context.fireUserInboundEventTriggered(event) }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "bye")), promise: nil)
            context.close(promise: nil)
        }
    }

    private final class Owner: Sendable {}

    private static var test: ProtocolUpgrade {
        ProtocolUpgrade(to: "test") { (channel, _) throws(TransportError) in
            do {
                try channel.pipeline.syncOperations.addHandler(Goodbye())
            } catch {
                throw TransportError(.connectionClosed, "The connection ended.", underlying: error)
            }
            channel.read()
            return Owner()
        }
    }

    @Test(arguments: [
        (["Upgrade"], true), (["keep-alive, UPGRADE"], true), (["keep-alive", " upgrade "], true), ([], false),
        (["keep-alive"], false), (["upgraded"], false),
    ])
    func theConnectionFieldNamesTheUpgrade(connection: [String], isAccepted: Bool) {
        var head = HTTPResponse(status: .switchingProtocols, headerFields: [.upgrade: "Test"])
        head.headerFields[values: .connection] = connection
        let refusal = Self.test.refusal(of: head)
        #expect((refusal == nil) == isAccepted)
        #expect(refusal?.code == (isAccepted ? nil : .invalidResponse))
    }

    /// Its protocol ends it before the threads of the transport end.
    @Test func aReleasedTransportWithItsOwnThreadsEndsItsConnectionsGracefully() async throws {
        let received = Mutex(Data())
        let ended = Signal()
        let server = try await MockServer.startRaw { connection in
            defer { ended.send() }
            try await connection.read(through: "\r\n\r\n")
            try await connection.write(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n")
            while let bytes = try await connection.read() { received.withLock { $0 += bytes } }
        }
        var configuration = TransportConfiguration()
        configuration.eventLoops = .dedicated(threads: 1)
        let owner = try await upgrade(HTTPTransport(configuration), server)
        await ended.wait()
        #expect(received.withLock { $0 } == Data("bye".utf8))
        withExtendedLifetime(owner) {}
        await server.shutdown()
    }

    /// It is in a pool of its own, but all connections of a transport are numbered together.
    @Test func anUpgradedConnectionHasANumberOfItsOwn() async throws {
        let server = try await MockServer.startRaw { connection in
            let head = String(decoding: try await connection.read(through: "\r\n\r\n"), as: UTF8.self)
            let isUpgrade = head.lowercased().contains("upgrade: test")
            try await connection.write(
                isUpgrade
                    ? "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n"
                    : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            while try await connection.read() != nil {}
        }
        try await withTransport { transport in
            let plain = try await transport.send(server.request())
            var request = server.request()
            request.upgrade = Self.test
            let upgraded = try await transport.send(request)
            #expect([plain, upgraded].map(\.metrics.connectionID) == [1, 2])
        }
        await server.shutdown()
    }

    /// The transport is released when this returns.
    private func upgrade(
        _ transport: consuming HTTPTransport, _ server: MockServer
    ) async throws -> any AnyObject & Sendable {
        var request = server.request()
        request.upgrade = Self.test
        let response = try await transport.send(request)
        return try #require(response.body.upgraded).owner
    }
}
