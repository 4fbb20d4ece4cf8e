import NIOCore
import Testing

@testable import LinnetTransport

/// The confinement of transports, without sockets.
@Suite(.timeLimit(.minutes(1)))
struct LoopbackConfinementTests {
    private func refusal(_ ip: String) throws -> TransportError? {
        LoopbackConfinement.refusal(ofConnectingTo: try SocketAddress(ipAddress: ip, port: 80), of: "api.test:80")
    }

    @Test(arguments: ["127.0.0.1", "127.255.0.1", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1", "::ffff:0.0.0.0"])
    func addressesOfThisMachineAreAllowed(ip: String) throws {
        let confinement = LoopbackConfinement.begin()
        #expect(try refusal(ip) == nil)
        #expect(confinement.end() == [])
    }

    @Test(arguments: ["128.0.0.1", "0.0.0.1", "10.0.0.1", "::2", "1::1", "::ffff:10.0.0.1", "::ffff:0.0.0.1"])
    func otherAddressesAreRefused(ip: String) throws {
        let confinement = LoopbackConfinement.begin()
        #expect(try refusal(ip)?.code == .connectionFailed)
        #expect(confinement.end().count == 1)
    }

    @Test(arguments: ["localhost", "LOCALHOST", "localhost.", "api.localhost", "api.localhost."])
    func localNamesAreAllowed(name: String) {
        let confinement = LoopbackConfinement.begin()
        #expect(LoopbackConfinement.refusal(ofLookingUp: name) == nil)
        #expect(confinement.end() == [])
    }

    @Test(arguments: ["example.com", "mylocalhost", "localhost.example", "localhost..", ""])
    func otherNamesAreRefused(name: String) {
        let confinement = LoopbackConfinement.begin()
        #expect(LoopbackConfinement.refusal(ofLookingUp: name)?.code == .nameResolutionFailed)
        #expect(confinement.end() == ["a look-up of \"\(name)\""])
    }

    @Test func everyConfinementInForceHasTheRefusals() throws {
        let first = LoopbackConfinement.begin()
        _ = LoopbackConfinement.refusal(ofLookingUp: "a.example")
        let second = LoopbackConfinement.begin()
        for _ in 0..<2 { _ = try refusal("192.0.2.1") }
        #expect(first.end() == ["a look-up of \"a.example\"", "a connection to api.test:80 at 192.0.2.1"])
        // Ended twice, it does not end the other one.
        #expect(first.end() == [])
        _ = LoopbackConfinement.refusal(ofLookingUp: "b.example")
        #expect(second.end() == ["a connection to api.test:80 at 192.0.2.1", "a look-up of \"b.example\""])
    }

    @Test func withoutAConfinementNothingIsRefused() throws {
        _ = LoopbackConfinement.begin().end()
        #expect(try refusal("192.0.2.1") == nil)
        #expect(LoopbackConfinement.refusal(ofLookingUp: "a.example") == nil)
    }
}
