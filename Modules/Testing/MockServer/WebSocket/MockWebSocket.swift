public import FoundationEssentials
internal import NIOCore
internal import Synchronization

/// The server's side of a WebSocket (RFC 6455) that a client of a ``MockServer`` has opened; see
/// ``MockResponse/webSocket(subprotocol:serve:)``.
///
/// Only one task at a time can read from it. Frames are sent as they are, also those that the protocol forbids. No
/// extension is negotiated.
public final class MockWebSocket: Sendable {
    /// A frame (RFC 6455, 5.2).
    public struct Frame: Sendable, Hashable {
        /// Whether the frame is the last one of its message. The default is true.
        public var isFinal = true
        /// The three reserved bits, as the high bits of the first byte. The default is 0.
        public var reservedBits: UInt8 = 0
        /// The opcode: 0 continues a message, 1 is text, 2 bytes, 8 close, 9 ping and 10 pong.
        public var opcode: UInt8
        /// The payload, without its mask.
        public var payload = Data()

        /// Creates a frame.
        public init(opcode: UInt8, _ payload: Data = Data(), isFinal: Bool = true, reservedBits: UInt8 = 0) {
            self.opcode = opcode
            self.payload = payload
            self.isFinal = isFinal
            self.reservedBits = reservedBits
        }

        /// Creates a message of text.
        public static func text(_ text: String) -> Frame { Frame(opcode: 1, Data(text.utf8)) }
        /// Creates a message of bytes.
        public static func binary(_ bytes: Data) -> Frame { Frame(opcode: 2, bytes) }
        /// Creates a ping.
        public static func ping(_ payload: Data = Data()) -> Frame { Frame(opcode: 9, payload) }
        /// Creates a pong.
        public static func pong(_ payload: Data = Data()) -> Frame { Frame(opcode: 10, payload) }
        /// Creates a close frame. Without a code it is empty.
        public static func close(_ code: UInt16? = 1000, reason: String = "") -> Frame {
            let number = code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []
            return Frame(opcode: 8, Data(number) + Data(reason.utf8))
        }

        /// The payload as UTF-8 text.
        public var text: String { String(decoding: payload, as: UTF8.self) }
        /// The code of a close frame; nil for an empty one.
        public var closeCode: UInt16? {
            payload.count < 2 ? nil : payload.prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
        }
    }

    /// The request that opened the WebSocket.
    public let request: RecordedRequest
    private let connection: ServerConnection
    private let inbound: InboundQueue<ByteBuffer>
    private let parser = Mutex(FrameParser())

    init(_ request: RecordedRequest, _ connection: ServerConnection, _ inbound: InboundQueue<ByteBuffer>) {
        self.request = request
        self.connection = connection
        self.inbound = inbound
    }

    /// Returns the client's next frame; nil when the client has closed the connection. Nothing is answered.
    ///
    /// - Throws: ``TestingError`` with ``TestingError/Code/invalidFrame`` when the client sends a frame without a mask
    ///   (RFC 6455, 5.1), `CancellationError` when the task is cancelled, or the error of the connection.
    public func nextFrame() async throws -> Frame? {
        while true {
            if let frame = try parser.withLock({ try $0.next() }) { return frame }
            guard let bytes = try await inbound.next() else { return nil }
            parser.withLock { $0.append(bytes) }
        }
    }

    /// Returns the client's next message as one frame; nil at the end. Pings are answered, and so is the close frame.
    public func nextMessage() async throws -> Frame? {
        var message: Frame?
        while let frame = try await nextFrame() {
            switch frame.opcode {
            case 8:
                try await send(.close(frame.closeCode))
                return nil
            case 9: try await send(.pong(frame.payload))
            case 10: break
            default:
                message = message.map { Frame(opcode: $0.opcode, $0.payload + frame.payload) } ?? frame
                if frame.isFinal { return message }
            }
        }
        return nil
    }

    /// Sends frames, without a mask, and returns when they were written to the socket.
    public func send(_ frames: Frame...) async throws {
        var bytes = ByteBuffer()
        for frame in frames { bytes.write(frame) }
        try await connection.write(bytes)
    }

    /// Sends bytes that need not be a frame.
    public func write(_ bytes: Data) async throws { try await connection.write(ByteBuffer(bytes: bytes)) }

    /// Sends a close frame, and reads to the client's, which is returned; nil if the client closes the connection
    /// without one.
    @discardableResult
    public func close(_ code: UInt16? = 1000, reason: String = "") async throws -> Frame? {
        try await send(.close(code, reason: reason))
        while let frame = try await nextFrame() {
            if frame.opcode == 8 { return frame }
        }
        return nil
    }

    /// Performs the effect of a fault. For all effects except `.delay` it returns when the connection is closed.
    public func perform(_ effect: MockServer.Fault.Effect) async throws {
        try await connection.performAlone(effect)
    }
}

/// Finds the frames in a client's bytes.
private struct FrameParser {
    private var bytes = ByteBuffer()

    mutating func append(_ more: ByteBuffer) {
        var more = more
        bytes.writeBuffer(&more)
    }

    /// The next whole frame.
    mutating func next() throws(TestingError) -> MockWebSocket.Frame? {
        var rest = bytes
        guard let first = rest.readInteger(as: UInt8.self), let second = rest.readInteger(as: UInt8.self) else {
            return nil
        }
        guard second & 0x80 != 0 else {
            throw TestingError(.invalidFrame, "The client's frame has no mask.")
        }
        let length: Int?
        switch second & 0x7F {
        case 126: length = rest.readInteger(as: UInt16.self).map(Int.init)
        case 127: length = rest.readInteger(as: UInt64.self).map { Int(clamping: $0) }
        case let short: length = Int(short)
        }
        guard let length, let mask = rest.readBytes(length: 4), let masked = rest.readBytes(length: length) else {
            return nil
        }
        bytes = rest
        bytes.discardReadBytes()
        let payload = masked.enumerated().map { $1 ^ mask[$0 % 4] }
        return MockWebSocket.Frame(
            opcode: first & 0xF, Data(payload), isFinal: first & 0x80 != 0, reservedBits: first & 0x70)
    }
}

extension ByteBuffer {
    /// Writes a server's frame, which has no mask.
    fileprivate mutating func write(_ frame: MockWebSocket.Frame) {
        writeInteger((frame.isFinal ? 0x80 : 0) | frame.reservedBits & 0x70 | frame.opcode & 0xF)
        switch frame.payload.count {
        case ...125: writeInteger(UInt8(frame.payload.count))
        case ...0xFFFF: writeMultipleIntegers(UInt8(126), UInt16(frame.payload.count))
        default: writeMultipleIntegers(UInt8(127), UInt64(frame.payload.count))
        }
        writeBytes(frame.payload)
    }
}
