internal import FoundationEssentials
internal import NIOCore
internal import NIOWebSocket

/// The state of a client's WebSocket (RFC 6455, sections 5 to 7): frames, fragments, and the closing handshake. Pure:
/// received bytes are appended and become actions one by one, so the rest can wait until there is room for its
/// messages.
struct WebSocketStateMachine {
    enum Phase: Equatable {
        case open
        /// A Close frame was sent, and the peer's is awaited.
        case closing
        /// Both Close frames were exchanged, or the connection failed.
        case closed
    }

    enum Action {
        case deliver(WebSocket.Message)
        /// A Ping frame with this payload was received.
        case pong(ByteBuffer)
        case ponged
        /// The peer's Close frame was received. `reply` is the payload of ours, if it was not sent before.
        case closed(WebSocket.Closure, reply: ByteBuffer?)
        /// The peer violated the protocol: the connection fails, with the code in a Close frame.
        case fail(WebSocketError, WebSocket.CloseCode)
    }

    /// An incomplete message.
    private struct Message {
        let isText: Bool
        let isCompressed: Bool
        var bytes = ByteBuffer()
        var validator = UTF8Validator()
    }

    /// The maximum size of the payload of a control frame (section 5.5).
    private static let mostControlBytes = 125
    /// The maximum size of the reason in a Close frame.
    static let mostReasonBytes = 123

    let maximumMessageSize: Int
    /// Decompresses messages; nil unless permessage-deflate was agreed on.
    private let inflater: MessageInflater?
    private(set) var phase = Phase.open
    private var frames = WebSocketFrameReader()
    /// The incomplete frame.
    private var frame: WebSocketFrameReader.Head?
    private var message: Message?

    init(maximumMessageSize: Int, inflater: MessageInflater? = nil) {
        self.maximumMessageSize = maximumMessageSize
        self.inflater = inflater
    }

    /// The maximum size of a message's payload, which may exceed the message: compression makes random bytes a little
    /// longer.
    private var maximumPayloadSize: Int {
        inflater == nil ? maximumMessageSize : maximumMessageSize + maximumMessageSize / 1000 + 64
    }

    // MARK: Receiving

    /// Whether there are received bytes that ``next()`` has not taken.
    var hasInput: Bool { frames.hasInput }

    /// Adds received bytes. Ignores them after the end (RFC 6455, section 7.1.7).
    mutating func append(_ bytes: ByteBuffer) {
        if phase != .closed { frames.append(bytes) }
    }

    /// Returns the next action for the received bytes; nil if it needs more, and after the end.
    mutating func next() -> Action? {
        while phase != .closed, let event = frames.next() {
            guard let action = received(event) else { continue }
            // The bytes after a violation have no certain meaning (section 7.1.7).
            if case .fail = action { phase = .closed }
            return action
        }
        return nil
    }

    private mutating func received(_ event: WebSocketFrameReader.Event) -> Action? {
        switch event {
        case .head(let head): return begin(head)
        case .payload(let bytes, let isLast):
            switch frame?.opcode {
            case .ping: return phase == .open ? .pong(bytes) : nil
            case .pong: return .ponged
            case .connectionClose: return receivedClose(bytes)
            default: return add(bytes, isLast: isLast && frame?.isFinal == true)
            }
        }
    }

    /// Refuses an invalid frame before its payload arrives.
    private mutating func begin(_ head: WebSocketFrameReader.Head) -> Action? {
        frame = head
        let mayBeCompressed = inflater != nil && (head.opcode == .text || head.opcode == .binary)
        guard !head.isCompressed || mayBeCompressed, !head.isReserved else {
            return violation("a frame with a reserved bit")
        }
        guard !head.isMasked else { return violation("a masked frame") }
        guard let length = head.length else { return violation("a frame with an invalid length") }
        switch head.opcode {
        case .ping, .pong, .connectionClose:
            guard head.isFinal, length <= Self.mostControlBytes else { return violation("an invalid control frame") }
            return nil
        case .text, .binary:
            guard message == nil else { return violation("a new message within another one") }
            message = Message(isText: head.opcode == .text, isCompressed: head.isCompressed)
        case .continuation:
            guard message != nil else { return violation("a continuation without a message") }
        default:
            return violation("a frame of an unknown kind")
        }
        let limit = message?.isCompressed == true ? maximumPayloadSize : maximumMessageSize
        return length <= limit - (message?.bytes.readableBytes ?? 0) ? nil : tooLarge
    }

    /// Adds a piece of a message.
    private mutating func add(_ bytes: ByteBuffer, isLast: Bool) -> Action? {
        // Taking the message out of the machine keeps the append from copying it.
        guard var message = message.take() else { return nil }
        message.bytes.add(bytes)
        guard !isLast else { return finish(message) }
        // The text fails as soon as it is invalid. A text in one piece is only validated at its end.
        if message.isText, !message.isCompressed,
            !bytes.withUnsafeReadableBytes({ message.validator.accepts($0) })
        {
            return invalidText
        }
        self.message = message
        return nil
    }

    private func finish(_ message: Message) -> Action {
        var bytes = message.bytes
        if message.isCompressed, let inflater {
            do throws(MessageInflater.Failure) {
                bytes = try inflater.inflate(bytes, upTo: maximumMessageSize)
            } catch .tooLarge {
                return tooLarge
            } catch {
                return .fail(
                    WebSocketError(.protocolViolation, "The server sent a message that cannot be decompressed."),
                    .invalidPayload)
            }
        }
        guard message.isText else { return .deliver(.binary(Data(bytes.readableBytesView))) }
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else { return invalidText }
        return .deliver(.text(text))
    }

    private mutating func receivedClose(_ payload: ByteBuffer) -> Action {
        var rest = payload
        let code = rest.readInteger(as: UInt16.self).map { WebSocket.CloseCode(rawValue: $0) }
        guard payload.readableBytes != 1 else { return violation("a Close frame of one byte") }
        guard code?.isSendable ?? true else { return violation("a Close frame with an invalid code") }
        guard let reason = String(validating: rest.readableBytesView, as: UTF8.self) else {
            return .fail(
                WebSocketError(.invalidText, "The server sent a reason for closing that is not UTF-8."), .invalidPayload
            )
        }
        let reply = phase == .open ? Self.closePayload(code, reason: "") : nil
        phase = .closed
        return .closed(WebSocket.Closure(code: code ?? .noStatusReceived, reason: reason), reply: reply)
    }

    private var tooLarge: Action {
        .fail(
            WebSocketError(.messageTooLarge, "The server sent a message of more than \(maximumMessageSize) bytes."),
            .messageTooBig)
    }

    private var invalidText: Action {
        .fail(WebSocketError(.invalidText, "The server sent a text that is not UTF-8."), .invalidPayload)
    }

    private func violation(_ what: String) -> Action {
        .fail(WebSocketError(.protocolViolation, "The server sent \(what)."), .protocolError)
    }

    // MARK: Closing

    /// Starts the closing handshake. Returns false if it was started before or the connection has ended.
    mutating func close() -> Bool {
        guard phase == .open else { return false }
        phase = .closing
        return true
    }

    /// Records the failure or the end of the connection. Returns false if the end was known before.
    mutating func end() -> Bool {
        defer { phase = .closed }
        (message, frames) = (nil, WebSocketFrameReader())
        return phase != .closed
    }

    /// The payload of a Close frame; empty without a code.
    static func closePayload(_ code: WebSocket.CloseCode?, reason: String) -> ByteBuffer {
        var payload = ByteBuffer()
        guard let code else { return payload }
        payload.writeInteger(code.rawValue)
        payload.writeString(reason)
        return payload
    }
}
