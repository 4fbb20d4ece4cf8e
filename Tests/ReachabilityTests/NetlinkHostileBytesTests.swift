import CommandSupport
import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(5))) struct NetlinkHostileBytesTests {
    private static let info = MessageBytes.attribute(1, MessageBytes.text("tun"))
    private static let hops =
        MessageBytes.hop(2, attributes: MessageBytes.attribute(5, [10, 0, 0, 1]))
        + MessageBytes.hop(3)
    private static let interface = MessageBytes.attribute(4, MessageBytes.raw(Int32(2)))

    static let wellFormed: [MessageBytes] = [
        .link(2, attributes: [MessageBytes.attribute(3, MessageBytes.text("tun0")), MessageBytes.attribute(18, info)]),
        .address(2, attributes: [MessageBytes.attribute(1, [10, 0, 0, 1]), MessageBytes.attribute(8, [0, 0, 0, 0])]),
        .route(attributes: [interface, MessageBytes.attribute(6, [1, 0, 0, 0])]),
        .route(attributes: [MessageBytes.attribute(9, hops)]),
        .message(type: 2, body: MessageBytes.raw(Int32(-1))),
    ]

    @Test(arguments: wellFormed.indices)
    func everyTruncationIsNoticed(index: Int) {
        let bytes = Self.wellFormed[index].bytes
        #expect(!NetlinkDatagram(bytes[...]).isMalformed)
        for length in 1..<bytes.count {
            let datagram = NetlinkDatagram(bytes[..<length])
            #expect(datagram.isMalformed, "cut to \(length) of \(bytes.count)")
            #expect(datagram.messages.isEmpty)
        }
    }

    @Test(arguments: wellFormed.indices)
    func everyTruncatedAttributeIsNoticedOrDroppedWhole(index: Int) {
        var bytes = Self.wellFormed[index].bytes
        for length in 16..<bytes.count {
            bytes.replaceSubrange(0..<4, with: MessageBytes.raw(UInt32(length)))
            let datagram = NetlinkDatagram(bytes[..<length])
            #expect(datagram.messages.count == (datagram.isMalformed ? 0 : 1))
        }
    }

    @Test(arguments: [0, 1, 15, 17, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] as [UInt32])
    func aFalseMessageLengthEndsTheDatagram(length: UInt32) {
        var second = MessageBytes.message(type: 3, body: []).bytes
        second.replaceSubrange(0..<4, with: MessageBytes.raw(length))
        let datagram = NetlinkDatagram((MessageBytes.message(type: 3, body: []).bytes + second)[...])
        #expect(datagram.isMalformed)
        #expect(datagram.messages.map(\.content) == [.done(0)])
    }

    @Test(arguments: [0, 1, 3, 9, 0x7FFF, 0xFFFF] as [UInt16])
    func aFalseAttributeLengthInvalidatesItsMessageOnly(length: UInt16) {
        let attribute = MessageBytes.raw(length) + MessageBytes.raw(UInt16(3)) + [0x61, 0, 0, 0]
        let datagram = NetlinkDatagram(
            (MessageBytes.link(2, attributes: [attribute]) + .message(type: 3, body: [])).bytes[...])
        #expect(datagram.isMalformed)
        #expect(datagram.messages.map(\.content) == [.done(0)])
    }

    @Test(arguments: [0, 7, 9, 0xFFFF] as [UInt16])
    func aFalseHopLengthInvalidatesItsRoute(length: UInt16) {
        let hop = MessageBytes.raw(length) + [0, 0] + MessageBytes.raw(Int32(2))
        let datagram = NetlinkDatagram(MessageBytes.route(attributes: [MessageBytes.attribute(9, hop)]).bytes[...])
        #expect(datagram.isMalformed)
        #expect(datagram.messages.isEmpty)
    }

    @Test(arguments: [4, 6, 15] as [UInt16])
    func aTruncatedNumberInvalidatesItsRoute(type: UInt16) {
        let datagram = NetlinkDatagram(
            MessageBytes.route(attributes: [MessageBytes.attribute(type, [1, 2])]).bytes[...])
        #expect(datagram.isMalformed)
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func randomBytesAreHandled(seed: UInt64) {
        var generator = SplitMix(seed: seed)
        let template = Self.wellFormed.reduce(into: [UInt8]()) { $0 += $1.bytes }
        for _ in 0..<2_000 {
            var bytes = template
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let start = Int.random(in: 0..<16, using: &generator)
            let datagram = NetlinkDatagram(bytes[start..<Int.random(in: start...bytes.count, using: &generator)])
            var state = NetworkState()
            for message in datagram.messages {
                state.add(message.content)
                _ = state.notice(message.content)
            }
            let status = state.status()
            #expect(status.isReachable == (status.kind != nil))
            #expect(datagram.messages.count * 16 <= bytes.count)
        }
    }
}
