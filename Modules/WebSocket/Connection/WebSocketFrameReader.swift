internal import LinnetTransport
internal import NIOCore
internal import NIOWebSocket

/// Splits received bytes into the heads and the payloads of frames (RFC 6455, section 5.2). Pure.
///
/// The head comes first, so that a frame can be refused before its payload arrives. The payload of a message follows in
/// the pieces of its arrival, the payload of a control frame as a whole. After a refused head, nothing may be read.
struct WebSocketFrameReader {
    struct Head: Equatable {
        let isFinal: Bool
        let opcode: WebSocketOpcode
        /// RSV1, which marks a compressed message (RFC 7692, section 6).
        let isCompressed: Bool
        /// Whether RSV2 or RSV3 is set.
        let isReserved: Bool
        let isMasked: Bool
        /// The length of the payload; nil if its most significant bit is set, which is invalid.
        let length: Int?

        var isControl: Bool { opcode.isControlOpcode }
    }

    enum Event {
        case head(Head)
        case payload(ByteBuffer, isLast: Bool)
    }

    private(set) var input = ByteBuffer()
    /// The missing bytes of the payload; nil before a head.
    private var missing: Int?
    private var isControl = false

    /// Whether there are bytes that no event has contained.
    var hasInput: Bool { input.readableBytes > 0 }

    mutating func append(_ bytes: ByteBuffer) {
        // The server chooses where its bytes are divided: a buffer that always ends within a head must not grow.
        input.appendUnread(bytes)
    }

    /// The next event; nil if it needs more bytes.
    mutating func next() -> Event? {
        guard let missing else { return readHead().map { .head($0) } }
        let count = min(missing, input.readableBytes)
        let isLast = count == missing
        guard isLast || (count > 0 && !isControl), let piece = input.readSlice(length: count) else { return nil }
        self.missing = isLast ? nil : missing - count
        return .payload(piece, isLast: isLast)
    }

    private mutating func readHead() -> Head? {
        let start = input.readerIndex
        guard let (first, second) = input.getMultipleIntegers(at: start, as: (UInt8, UInt8).self) else { return nil }
        let length: UInt64
        switch second & 0x7F {
        case 126:
            guard let word: UInt16 = input.getInteger(at: start + 2) else { return nil }
            length = UInt64(word)
            input.moveReaderIndex(forwardBy: 4)
        case 127:
            guard let word: UInt64 = input.getInteger(at: start + 2) else { return nil }
            length = word
            input.moveReaderIndex(forwardBy: 10)
        case let short:
            length = UInt64(short)
            input.moveReaderIndex(forwardBy: 2)
        }
        let head = Head(
            isFinal: first & 0x80 != 0, opcode: WebSocketOpcode(encodedWebSocketOpcode: first & 0x0F) ?? .continuation,
            isCompressed: first & 0x40 != 0, isReserved: first & 0x30 != 0, isMasked: second & 0x80 != 0,
            length: Int(exactly: length))
        (missing, isControl) = (head.length, head.isControl)
        return head
    }
}

extension ByteBuffer {
    /// Adds bytes; does not copy them if there are no earlier ones.
    mutating func add(_ bytes: ByteBuffer) {
        if readableBytes == 0 { self = bytes } else { writeImmutableBuffer(bytes) }
    }
}
