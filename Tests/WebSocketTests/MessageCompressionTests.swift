import NIOCore
import NIOWebSocket
import Testing

@testable import LinnetWebSocket

@Suite("permessage-deflate (RFC 7692)")
struct MessageCompressionTests {
    private func buffer(_ bytes: [UInt8]) -> ByteBuffer { ByteBuffer(bytes: bytes) }

    private func inflated(_ payloads: [[UInt8]], _ agreed: DeflateExtension = DeflateExtension()) throws -> [String] {
        let inflater = try #require(MessageInflater(agreed))
        return try payloads.map { String(buffer: try inflater.inflate(buffer($0), upTo: 1000)) }
    }

    // MARK: The RFC's examples

    /// Section 7.2.3.1.
    @Test func aMessageIsOneBlock() throws {
        #expect(try inflated([[0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]]) == ["Hello"])
    }

    /// Section 7.2.3.2: the second message refers to the first.
    @Test func theContextIsTakenOver() throws {
        let payloads: [[UInt8]] = [[0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], [0xF2, 0x00, 0x11, 0x00, 0x00]]
        #expect(try inflated(payloads) == ["Hello", "Hello"])
        var alone = DeflateExtension()
        alone.serverTakesNoContextOver = true
        #expect(throws: MessageInflater.Failure.invalid) { try inflated(payloads, alone) }
    }

    /// Section 7.2.3.3.
    @Test func aBlockWithoutCompression() throws {
        let payload: [UInt8] = [0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]
        #expect(try inflated([payload]) == ["Hello"])
    }

    /// Section 7.2.3.4: a block that is marked as the last one, and a message that refers to it.
    @Test func aFinalBlock() throws {
        let payload: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
        #expect(try inflated([payload]) == ["Hello"])
        #expect(try inflated([payload, [0xF2, 0x00, 0x11, 0x00, 0x00]]) == ["Hello", "Hello"])
    }

    /// Section 7.2.3.5.
    @Test func twoBlocks() throws {
        let payload: [UInt8] = [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00]
        #expect(try inflated([payload]) == ["Hello"])
    }

    /// Section 7.2.3.6.
    @Test func anEmptyMessage() throws {
        #expect(try inflated([[0x00]]) == [""])
    }

    @Test func messagesAreCompressedAsInTheRFC() throws {
        let deflater = try #require(MessageDeflater(DeflateExtension()))
        #expect(
            Array(deflater.deflate(ByteBuffer(string: "Hello")).readableBytesView) == [
                0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00,
            ])
        #expect(
            Array(deflater.deflate(ByteBuffer(string: "Hello")).readableBytesView) == [0xF2, 0x00, 0x11, 0x00, 0x00])
        #expect(Array(deflater.deflate(ByteBuffer()).readableBytesView) == [0x00])
    }

    // MARK: Both directions

    @Test(arguments: [9, 12, 15] as [Int32], [false, true])
    func compressedMessagesAreDecompressed(bits: Int32, alone: Bool) throws {
        var agreed = DeflateExtension()
        (agreed.clientWindowBits, agreed.serverWindowBits) = (bits, bits)
        (agreed.clientTakesNoContextOver, agreed.serverTakesNoContextOver) = (alone, alone)
        let deflater = try #require(MessageDeflater(agreed))
        let inflater = try #require(MessageInflater(agreed))
        for size in [0, 1, 100, 16_383, 16_384, 16_385, 100_000, 1_000_000] {
            let noise = (0..<size).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
            for message in [buffer(noise), buffer(Array(repeating: 7, count: size))] {
                let payload = deflater.deflate(message)
                #expect(try inflater.inflate(payload, upTo: size) == message)
            }
        }
    }

    /// A thousand times the sent bytes.
    @Test func aBombIsStoppedAtTheLimit() throws {
        let deflater = try #require(MessageDeflater(DeflateExtension()))
        let bomb = deflater.deflate(buffer(Array(repeating: 0, count: 64 << 20)))
        #expect(bomb.readableBytes < 100_000)
        let inflater = try #require(MessageInflater(DeflateExtension()))
        #expect(throws: MessageInflater.Failure.tooLarge) { try inflater.inflate(bomb, upTo: 1 << 20) }
    }

    @Test(
        arguments: [[0xFF], [0x07], [0xF2, 0x48, 0xCD], [0x00, 0x05, 0x00, 0xFA, 0xFF], [0xF2, 0x00, 0x11]] as [[UInt8]]
    )
    func whatIsNotDeflateIsRefused(payload: [UInt8]) {
        #expect(throws: MessageInflater.Failure.invalid) { try inflated([payload]) }
    }

    // MARK: Frames

    private func frame(_ opcode: WebSocketOpcode, _ bytes: [UInt8], fin: Bool = true, rsv1: Bool) -> WebSocketFrame {
        WebSocketFrame(fin: fin, rsv1: rsv1, opcode: opcode, data: buffer(bytes))
    }

    @Test func theBitOfTheFirstFrameCounts() throws {
        let inflater = try #require(MessageInflater(DeflateExtension()))
        var machine = WebSocketStateMachine(maximumMessageSize: 100, inflater: inflater)
        // Section 7.2.3.1, in two frames.
        _ = machine.received(frame(.text, [0xF2, 0x48, 0xCD], fin: false, rsv1: true))
        guard
            case .deliver(.text("Hello")) = machine.received(
                frame(.continuation, [0xC9, 0xC9, 0x07, 0x00], rsv1: false))
        else {
            Issue.record("another action")
            return
        }
        guard case .deliver(.text("plain")) = machine.received(frame(.text, Array("plain".utf8), rsv1: false)) else {
            Issue.record("another action")
            return
        }
        for (opcode, fin) in [(WebSocketOpcode.continuation, true), (.ping, true), (.connectionClose, true)] {
            var other = machine
            guard case .fail(let error, .protocolError) = other.received(frame(opcode, [], fin: fin, rsv1: true)) else {
                Issue.record("another action")
                return
            }
            #expect(error.code == .protocolViolation)
        }
        guard case .fail(_, .invalidPayload) = machine.received(frame(.text, [0xFF], rsv1: true)) else {
            Issue.record("another action")
            return
        }
    }

    // MARK: Agreement

    @Test func theParametersOfTheServerAreRead() {
        #expect(DeflateExtension(["permessage-deflate"]) == DeflateExtension())
        var all = DeflateExtension()
        (all.serverTakesNoContextOver, all.clientTakesNoContextOver) = (true, true)
        (all.serverWindowBits, all.clientWindowBits) = (10, 8)
        let text =
            "Permessage-Deflate ; server_no_context_takeover;client_no_context_takeover; server_max_window_bits=10;client_max_window_bits=\"8\""
        #expect(DeflateExtension([text]) == all)
        #expect(all.canDeflate == false)
    }

    @Test(arguments: [
        "", "x-deflate", "permessage-deflate; x", "permessage-deflate; server_max_window_bits",
        "permessage-deflate; server_max_window_bits=7", "permessage-deflate; server_max_window_bits=16",
        "permessage-deflate; server_max_window_bits=08", "permessage-deflate; server_no_context_takeover=1",
        "permessage-deflate; client_max_window_bits", "permessage-deflate, permessage-deflate",
        "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
    ])
    func otherParametersAreRefused(value: String) {
        #expect(DeflateExtension([value]) == nil)
        #expect(DeflateExtension(["permessage-deflate", value]) == nil)
    }
}
