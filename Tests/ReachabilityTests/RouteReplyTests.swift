import CommandSupport
import Glibc
import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(1))) struct RouteReplyTests {
    private static let attributes = [
        MessageBytes.attribute(15, MessageBytes.raw(UInt32(51_820))),
        MessageBytes.attribute(4, MessageBytes.raw(Int32(3))),
        MessageBytes.attribute(7, [10, 9, 0, 2]), MessageBytes.attribute(5, [10, 9, 0, 1]),
        MessageBytes.attribute(6, MessageBytes.raw(UInt32(100))),
        MessageBytes.attribute(8, MessageBytes.attribute(2, MessageBytes.raw(UInt32(1400)))),
    ]

    private func answer(_ bytes: MessageBytes, sequence: UInt32 = 0) -> RouteAnswer? {
        RouteReply.answer(in: bytes.bytes[...], sequence: sequence, port: 0)
    }

    @Test func aReplyIsReadWithItsAttributes() {
        let expected = KernelRoute(
            family: .ipv4, prefixLength: 32, table: 51_820, metric: 100, interface: 3, source: [10, 9, 0, 2],
            gateway: [10, 9, 0, 1], mtu: 1400)
        #expect(answer(.route(prefixLength: 32, attributes: Self.attributes)) == .route(expected))
    }

    @Test func aRouterOfTheOtherFamilyIsRead() {
        let via = [10, 0, 0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
        let reply = answer(.route(attributes: [MessageBytes.attribute(18, via)]))
        guard case .route(let route)? = reply else {
            Issue.record("\(String(describing: reply))")
            return
        }
        #expect(route.gateway.flatMap(NetworkDestination.text) == "fe80::1")
    }

    @Test func aRefusalCarriesTheErrorNumber() {
        #expect(answer(.message(type: 2, body: MessageBytes.raw(Int32(-13)))) == .refused(EACCES))
        #expect(answer(.message(type: 2, body: MessageBytes.raw(Int32.min))) == .refused(.max))
        #expect(answer(.message(type: 2, body: [])) == .unknown)
    }

    @Test func othersMessagesAreNoReply() {
        #expect(answer(.route(attributes: Self.attributes), sequence: 1) == nil)
        #expect(answer(.link(2)) == nil)
        let bytes = MessageBytes.route(attributes: Self.attributes).bytes[...]
        #expect(RouteReply.answer(in: bytes, sequence: 0, port: 7) == nil)
    }

    @Test func everyTruncationIsHandled() {
        let bytes = MessageBytes.route(prefixLength: 32, attributes: Self.attributes).bytes
        for length in 0..<bytes.count {
            #expect(RouteReply.answer(in: bytes[..<length], sequence: 0, port: 0) == nil)
            // The same with a length that fits.
            guard length >= 16 else { continue }
            var cut = Array(bytes[..<length])
            cut.replaceSubrange(0..<4, with: MessageBytes.raw(UInt32(length)))
            let answer = RouteReply.answer(in: cut[...], sequence: 0, port: 0)
            if case .refused = answer { Issue.record("A cut reply is refused.") }
        }
    }

    @Test func randomBytesAreHandled() {
        var generator = SplitMix(seed: RandomSeed.next())
        let template = MessageBytes.route(prefixLength: 32, attributes: Self.attributes).bytes
        for _ in 0..<5_000 {
            var bytes = template
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                bytes[Int.random(in: 16..<bytes.count, using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            guard case .route(let route)? = RouteReply.answer(in: bytes[...], sequence: 0, port: 0) else { continue }
            for address in [route.source, route.gateway].compactMap({ $0 }) {
                #expect(NetworkDestination.text(address) != nil)
            }
        }
    }

    @Test func theLookUpHasTheKernelsLayout() throws {
        let ipv4 = try #require(NetworkDestination("192.0.2.1"))
        let request = NetlinkRequest.lookUp(RouteQuestion(destination: ipv4, interface: 3))
        let expected = MessageBytes.message(
            type: 26, flags: 1, sequence: 9,
            body: [2, 32, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0] + MessageBytes.attribute(1, [192, 0, 2, 1])
                + MessageBytes.attribute(4, MessageBytes.raw(Int32(3))))
        #expect(request.encoded(sequence: 9) == expected.bytes)
        // The kernel refuses the flag for the table in IPv6.
        let ipv6 = try #require(NetworkDestination("2001:db8::1"))
        #expect(Array(NetlinkRequest.lookUp(RouteQuestion(destination: ipv6)).body[8...]) == [0, 0, 0, 0])
    }
}
