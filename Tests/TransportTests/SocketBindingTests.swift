import Glibc
import HTTPTypes
import LinnetTesting
import NIOCore
import NIOPosix
import Testing

@testable import LinnetTransport

/// Connections that are bound to a local address or an interface. All of 127.0.0.0/8 is local in Linux.
@Suite("Binding", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct SocketBindingTests {
    /// Answers with the address of the client.
    private final class AddressHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let text = context.remoteAddress?.ipAddress ?? ""
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\nConnection: close\r\n\r\n"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: head + text)), promise: nil)
        }
    }

    /// A server of NIO's alone, at 127.0.0.1, and at ::1 if there is one.
    private func withServer(
        _ configure: (inout TransportConfiguration.Resolution) -> Void, host: String = "127.0.0.1",
        perform: (HTTPTransport, TransportRequest) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AddressHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        var options = TransportConfiguration.Resolution()
        options.hostOverrides = ["both.test": ["::1", "127.0.0.1"], "six.test": ["::1"]]
        configure(&options)
        do {
            try await withTransport({ $0.resolution = options }) { transport in
                let head = HTTPRequest(method: .get, scheme: "http", authority: "\(host):\(port)", path: "/")
                try await perform(transport, TransportRequest(head: head))
            }
        } catch {
            try await server.close().get()
            try await group.shutdownGracefully()
            throw error
        }
        try await server.close().get()
        try await group.shutdownGracefully()
    }

    @Test(arguments: ["127.0.0.1", "both.test"])
    func theServerSeesTheLocalAddress(host: String) async throws {
        try await withServer({ $0.localAddress = "127.0.0.2" }, host: host) { transport, request in
            for _ in 0..<3 {
                let response = try await transport.send(request)
                #expect(response.text == "127.0.0.2")
                let local = try #require(response.metrics.localAddress)
                #expect(local.hasPrefix("127.0.0.2:") && local != "127.0.0.2:0")
            }
        }
    }

    @Test func anyAddressChoosesTheFamilyOnly() async throws {
        try await withServer({ $0.localAddress = "0.0.0.0" }, host: "both.test") { transport, request in
            try await expectText("127.0.0.1", transport, request)
        }
    }

    @Test(arguments: [
        ("127.0.0.2", "six.test", #""six.test" has no IPv4 address"#), ("127.0.0.2", "[::1]", "has no IPv4 address"),
        ("::1", "127.0.0.1", "has no IPv6 address"),
    ])
    func aServerOfTheOtherFamilyIsNotConnectedTo(local: String, host: String, message: String) async throws {
        try await withServer({ $0.localAddress = local }, host: host) { transport, request in
            let error = await failure { () async throws(TransportError) in try await transport.send(request) }
            #expect(error?.code == .connectionFailed)
            #expect(error?.message.contains(message) == true, "\(String(describing: error))")
            #expect(error?.message.contains("the local address \(local) cannot") == true)
        }
    }

    /// 192.0.2.1 is for documentation (RFC 5737), so that no machine has it.
    @Test(arguments: ["127.0.0.1", "both.test"])
    func anAddressOfAnotherMachineIsAnErrorOfItsOwn(host: String) async throws {
        try await withServer({ $0.localAddress = "192.0.2.1" }, host: host) { transport, request in
            let error = await failure { () async throws(TransportError) in try await transport.send(request) }
            #expect(error?.code == .localAddressUnavailable)
            #expect(
                error?.message
                    == "A socket could not be bound to the local address 192.0.2.1: Cannot assign requested address.")
            #expect(error?.underlying is IOError)
            #expect(error?.attempts.map(\.failure) == [.notConnected])
        }
    }

    @Test func aConnectionToAProxyIsBoundToo() async throws {
        try await TestProxy().run { server in
            try await withMockServer(.text("ok")) { origin in
                let proxy = try Proxy(.http, host: "127.0.0.1", port: server.port)
                try await withTransport({
                    $0.proxies = .fixed(proxy)
                    $0.resolution.localAddress = "127.0.0.2"
                }) { transport in
                    let response = try await transport.send(origin.request())
                    #expect(response.metrics.localAddress?.hasPrefix("127.0.0.2:") == true)
                }
                try await withTransport({
                    $0.proxies = .fixed(proxy)
                    $0.resolution.localAddress = "192.0.2.1"
                }) { transport in
                    let error = await failure { () async throws(TransportError) in
                        try await transport.send(origin.request())
                    }
                    #expect(error?.code == .localAddressUnavailable)
                    #expect(error?.endpoint == "127.0.0.1:\(server.port)")
                }
            }
        }
    }

    @Test func theLoopbackInterfaceReachesTheServer() async throws {
        try await withServer({ ($0.networkInterface, $0.localAddress) = ("lo", "127.0.0.3") }) { transport, request in
            do {
                try await expectText("127.0.0.3", transport, request)
            } catch let error as TransportError {
                // Linux before 5.7 requires CAP_NET_RAW.
                #expect((error.underlying as? IOError)?.errnoCode == EPERM)
                #expect(error.message == "A socket could not be bound to the interface lo: Operation not permitted.")
            }
        }
    }

    @Test func aMissingInterfaceIsAnErrorOfItsOwn() async throws {
        try await withServer({ $0.networkInterface = "linnet-none" }) { transport, request in
            let error = await failure { () async throws(TransportError) in try await transport.send(request) }
            #expect(error?.code == .localAddressUnavailable)
            #expect(error?.message.hasPrefix("A socket could not be bound to the interface linnet-none: ") == true)
        }
    }

    @Test(arguments: ["", "localhost", "127.1", "[::1]", "127.0.0.1:80", "127.0.0.1\0"])
    func invalidAddressesAreRefused(address: String) {
        var configuration = TransportConfiguration()
        configuration.resolution.localAddress = address
        let error = #expect(throws: TransportError.self) { try HTTPTransport(configuration) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test(arguments: ["", "sixteen-bytes-xx", "a b", "a/b", "a\0b", ".", ".."])
    func invalidInterfacesAreRefused(name: String) {
        var configuration = TransportConfiguration()
        configuration.resolution.networkInterface = name
        let error = #expect(throws: TransportError.self) { try HTTPTransport(configuration) }
        #expect(error?.code == .invalidConfiguration)
    }
}
