import NIOCore
import NIOWebSocket
import Testing

@testable import LinnetWebSocket

@Suite("Frames and messages of a WebSocket (RFC 6455, 5)")
struct WebSocketStateMachineTests {
    private func frame(
        _ opcode: WebSocketOpcode, _ text: String = "", fin: Bool = true,
        rsv: (Bool, Bool, Bool) = (false, false, false)
    ) -> WebSocketFrame {
        WebSocketFrame(
            fin: fin, rsv1: rsv.0, rsv2: rsv.1, rsv3: rsv.2, opcode: opcode, maskKey: nil,
            data: ByteBuffer(string: text))
    }

    private func bytes(_ opcode: WebSocketOpcode, _ bytes: [UInt8], fin: Bool = true) -> WebSocketFrame {
        WebSocketFrame(fin: fin, opcode: opcode, data: ByteBuffer(bytes: bytes))
    }

    private func machine(_ limit: Int = 100) -> WebSocketStateMachine {
        WebSocketStateMachine(maximumMessageSize: limit)
    }

    private func expectFailure(
        _ action: WebSocketStateMachine.Action?, _ expected: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard case .fail(let error, let code) = action else {
            Issue.record("another action", sourceLocation: sourceLocation)
            return
        }
        #expect([error.code.description, code.description] == expected, sourceLocation: sourceLocation)
    }

    private func expectMessage(
        _ action: WebSocketStateMachine.Action?, _ expected: WebSocket.Message?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let message: WebSocket.Message? = if case .deliver(let message)? = action { message } else { nil }
        #expect(message == expected, sourceLocation: sourceLocation)
    }

    /// A server can end each of its writes within the head of a frame.
    @Test func bytesThatWereReadAreNotKept() {
        var reader = WebSocketFrameReader()
        reader.append(ByteBuffer(bytes: [0x89]))
        var heads = 0
        for _ in 0..<100_000 {
            // The end of the head of a ping without a payload, and the beginning of the next one.
            reader.append(ByteBuffer(bytes: [0x00, 0x89]))
            while let event = reader.next() {
                if case .head = event { heads += 1 }
            }
        }
        #expect(heads == 100_000)
        #expect(reader.input.storageCapacity <= 1024)
    }

    @Test func aMessageIsAssembledFromItsFragments() {
        var machine = machine()
        expectMessage(machine.received(frame(.text, "one")), .text("one"))
        expectMessage(machine.received(frame(.text, "a", fin: false)), nil)
        expectMessage(machine.received(frame(.continuation, "", fin: false)), nil)
        expectMessage(machine.received(frame(.continuation, "b")), .text("ab"))
        expectMessage(machine.received(bytes(.binary, [])), .binary([].asData))
    }

    @Test func controlFramesMayComeBetweenFragments() {
        var machine = machine()
        _ = machine.received(bytes(.binary, [1], fin: false))
        guard case .pong(let payload) = machine.received(frame(.ping, "x")) else {
            Issue.record("another action")
            return
        }
        #expect(String(buffer: payload) == "x")
        guard case .ponged = machine.received(frame(.pong)) else {
            Issue.record("another action")
            return
        }
        expectMessage(machine.received(bytes(.continuation, [2])), .binary([1, 2].asData))
    }

    /// A character that is cut by a fragment's end is valid.
    @Test func textIsValidatedAsAWhole() {
        var machine = machine()
        _ = machine.received(bytes(.text, [0xC3], fin: false))
        expectMessage(machine.received(bytes(.continuation, [0xA4])), .text("ä"))
        expectFailure(machine.received(bytes(.text, [0xC3])), ["invalidText", "1007"])
    }

    @Test(
        arguments: [
            [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xFF], [0x61, 0xE2, 0x82],
        ] as [[UInt8]])
    func invalidTextFails(payload: [UInt8]) {
        var machine = machine()
        expectFailure(machine.received(bytes(.text, payload)), ["invalidText", "1007"])
        #expect(machine.phase == .closed)
    }

    @Test func theLimitHoldsForWholeMessages() {
        var exact = machine(4)
        expectMessage(exact.received(frame(.text, "four")), .text("four"))
        expectFailure(exact.received(frame(.text, "fives")), ["messageTooLarge", "1009"])
        var split = machine(4)
        _ = split.received(frame(.text, "fo", fin: false))
        _ = split.received(frame(.continuation, "ur", fin: false))
        expectFailure(split.received(frame(.continuation, "!", fin: false)), ["messageTooLarge", "1009"])
    }

    private func received(_ bytes: [UInt8], _ machine: inout WebSocketStateMachine) -> WebSocketStateMachine.Action? {
        machine.append(ByteBuffer(bytes: bytes))
        return machine.next()
    }

    /// A frame is refused before its payload has arrived.
    @Test(
        arguments: [
            ([0x82, 101], "messageTooLarge", "1009"),
            ([0x82, 127, 0x7F, 0, 0, 0, 0, 0, 0, 0], "messageTooLarge", "1009"),
            ([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 1], "protocolViolation", "1002"),
            ([0x82, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], "protocolViolation", "1002"),
            ([0x02, 60] + [UInt8](repeating: 0, count: 60) + [0x80, 41], "messageTooLarge", "1009"),
            ([0x02, 60] + [UInt8](repeating: 0, count: 60) + [0x82, 1], "protocolViolation", "1002"),
            ([0x82, 0x80 | 20], "protocolViolation", "1002"), ([0xC2, 20], "protocolViolation", "1002"),
            ([0x83, 20], "protocolViolation", "1002"), ([0x80, 20], "protocolViolation", "1002"),
            ([0x09, 20], "protocolViolation", "1002"), ([0x89, 126, 0, 126], "protocolViolation", "1002"),
        ] as [([UInt8], String, String)])
    func framesAreRefusedByTheirHeads(bytes: [UInt8], error: String, code: String) {
        var machine = machine()
        expectFailure(received(bytes, &machine), [error, code])
        #expect(machine.phase == .closed)
    }

    @Test func lengthsHaveThreeForms() {
        for size in [0, 1, 125, 126, 127, 65_535, 65_536, 70_000] {
            var machine = machine(70_000)
            let frame = bytes(.binary, Array(repeating: 7, count: size)).bytes
            for piece in Array(frame.readableBytesView.dropLast()).chunked(7_001) {
                expectNothing(received(piece, &machine))
            }
            let last = Array(frame.readableBytesView.suffix(1))
            expectMessage(received(last, &machine), .binary(Array(repeating: UInt8(7), count: size).asData))
        }
    }

    @Test func aControlFrameInPiecesIsOneFrame() {
        var machine = machine()
        let frame = frame(.ping, "hello").bytes
        var pongs: [String] = []
        for byte in frame.readableBytesView {
            machine.append(ByteBuffer(bytes: [byte]))
            while case .pong(let payload)? = machine.next() { pongs.append(String(buffer: payload)) }
        }
        #expect(pongs == ["hello"])
    }

    /// Like Autobahn's cases 6.4: an invalid text fails at once, because no further bytes can make it valid.
    @Test func textFailsAsSoonAsItIsInvalid() {
        let text: [UInt8] = [0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xCE, 0xBC, 0xCE, 0xB5, 0xF4, 0x90]
        // In the middle of a frame, octet by octet.
        var octets = machine()
        expectNothing(received([0x81, 21], &octets))
        for byte in text.dropLast() { expectNothing(received([byte], &octets)) }
        expectFailure(received([0x90], &octets), ["invalidText", "1007"])
        // At the end of a fragment.
        var fragments = machine()
        expectNothing(fragments.received(bytes(.text, Array(text.prefix(12)), fin: false)))
        expectFailure(
            fragments.received(bytes(.continuation, [0x90], fin: false)), ["invalidText", "1007"])
        // Bytes are not text.
        var binary = machine()
        expectNothing(binary.received(bytes(.binary, [0xFF], fin: false)))
        expectMessage(binary.received(bytes(.continuation, [0xFE])), .binary([0xFF, 0xFE].asData))
    }

    @Test func theValidatorAgreesWithTheStandardLibrary() {
        var random = SplitMix(state: 7)
        let samples: [UInt8] = [
            0x61, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE,
            0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ]
        var (valid, invalid) = (0, 0)
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...4, using: &random)
            let character = (0..<count).map { _ in samples.randomElement(using: &random) ?? 0 }
            let text = Array("0123456789".utf8.prefix(Int.random(in: 0...10, using: &random))) + character
            var validator = UTF8Validator()
            let cut = Int.random(in: 0...text.count, using: &random)
            let accepts = [text[..<cut], text[cut...], Array("ascii".utf8)[...]].allSatisfy { part in
                part.withUnsafeBytes { validator.accepts($0) }
            }
            let isValid = String(validating: text, as: UTF8.self) != nil
            #expect(accepts == isValid, "\(text)")
            if isValid { valid += 1 } else { invalid += 1 }
        }
        #expect(valid > 500 && invalid > 500)
    }

    @Test(arguments: 1..<8)
    func everyReservedBitIsAViolation(bits: Int) {
        var machine = machine()
        let reserved = (bits & 4 != 0, bits & 2 != 0, bits & 1 != 0)
        expectFailure(machine.received(frame(.text, "x", rsv: reserved)), ["protocolViolation", "1002"])
    }

    @Test(arguments: [3, 4, 5, 6, 7, 11, 12, 13, 14, 15] as [UInt8])
    func everyUnknownOpcodeIsAViolation(number: UInt8) throws {
        var machine = machine()
        let opcode = try #require(WebSocketOpcode(encodedWebSocketOpcode: number))
        expectFailure(machine.received(frame(opcode)), ["protocolViolation", "1002"])
    }

    @Test func orderIsChecked() {
        var first = machine()
        expectFailure(first.received(frame(.continuation, "x")), ["protocolViolation", "1002"])
        var second = machine()
        _ = second.received(frame(.text, "x", fin: false))
        expectFailure(second.received(frame(.text, "y")), ["protocolViolation", "1002"])
        var masked = machine()
        var frame = frame(.text, "x")
        frame.maskKey = .random()
        expectFailure(masked.received(frame), ["protocolViolation", "1002"])
    }

    // MARK: Close

    @Test(arguments: [1000, 1001, 1002, 1003, 1007, 1011, 1014, 3000, 3999, 4000, 4999] as [UInt16])
    func validCloseCodesAreAnswered(code: UInt16) {
        var machine = machine()
        let payload = WebSocketStateMachine.closePayload(WebSocket.CloseCode(rawValue: code), reason: "bye")
        guard
            case .closed(let closure, let reply?) = machine.received(
                WebSocketFrame(fin: true, opcode: .connectionClose, data: payload))
        else {
            Issue.record("another action")
            return
        }
        #expect(closure == WebSocket.Closure(code: WebSocket.CloseCode(rawValue: code), reason: "bye"))
        #expect(Array(reply.readableBytesView) == [UInt8(code >> 8), UInt8(code & 0xFF)])
        #expect(machine.phase == .closed)
    }

    @Test(arguments: [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] as [UInt16])
    func otherCloseCodesAreViolations(code: UInt16) {
        var machine = machine()
        let payload = [UInt8(code >> 8), UInt8(code & 0xFF)]
        expectFailure(machine.received(bytes(.connectionClose, payload)), ["protocolViolation", "1002"])
    }

    @Test func aCloseFrameHasACodeOrNothing() {
        var empty = machine()
        guard case .closed(let closure, let reply?) = empty.received(frame(.connectionClose)) else {
            Issue.record("another action")
            return
        }
        #expect(closure.code == .noStatusReceived)
        #expect(reply.readableBytes == 0)
        var short = machine()
        expectFailure(short.received(bytes(.connectionClose, [3])), ["protocolViolation", "1002"])
        var reason = machine()
        expectFailure(reason.received(bytes(.connectionClose, [3, 232, 0xFF])), ["invalidText", "1007"])
    }

    @Test func nothingIsReceivedAfterTheEnd() {
        var machine = machine()
        _ = machine.received(frame(.connectionClose))
        guard case .none = machine.received(frame(.text, "late")) else {
            Issue.record("another action")
            return
        }
        expectFalse(machine.close())
        expectFalse(machine.end())
    }

    @Test func messagesArriveUntilTheAnswerToOurCloseFrame() {
        var machine = machine()
        let begins = machine.close()
        #expect(begins)
        expectFalse(machine.close())
        expectMessage(machine.received(frame(.text, "late")), .text("late"))
        guard case .none = machine.received(frame(.ping)) else {
            Issue.record("another action")
            return
        }
        guard case .closed(_, nil) = machine.received(frame(.connectionClose)) else {
            Issue.record("another action")
            return
        }
    }

    private func expectNothing(
        _ action: WebSocketStateMachine.Action?, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(action == nil, sourceLocation: sourceLocation)
    }

    private func expectFalse(_ value: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(value == false, sourceLocation: sourceLocation)
    }
}

extension [UInt8] {
    fileprivate func chunked(_ size: Int) -> [[UInt8]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}

/// Random numbers that are the same in each run.
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
