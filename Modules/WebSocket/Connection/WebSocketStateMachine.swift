internal import FoundationEssentials
internal import NIOCore
internal import NIOWebSocket

/// The state of a client's WebSocket (RFC 6455, sections 5 to 7): fragments, control frames and the closing handshake. Pure:
/// each event returns an action.
struct WebSocketStateMachine {
    enum Phase: Equatable {
        case open
        /// A Close frame was sent; the peer's is awaited.
        case closing
        /// Both Close frames were exchanged, or the connection failed.
        case closed
    }

    enum Action {
        case none
        case deliver(WebSocketMessage)
        /// A Ping frame with this payload was received.
        case pong(ByteBuffer)
        case ponged
        /// The peer's Close frame was received. `reply` is the payload of ours, if it was not sent before.
        case closed(WebSocketClosure, reply: ByteBuffer?)
        /// The peer violated the protocol: the connection fails with a Close frame with the code.
        case fail(WebSocketError, WebSocketCloseCode)
    }

    private struct Fragments {
        let isText: Bool
        let isCompressed: Bool
        var bytes: ByteBuffer
    }

    /// The maximum size of the reason in a Close frame.
    static let mostReasonBytes = 123

    let maximumMessageSize: Int
    /// Decompresses messages; nil unless permessage-deflate was agreed on.
    private let inflater: MessageInflater?
    private(set) var phase = Phase.open
    private var fragments: Fragments?

    init(maximumMessageSize: Int, inflater: MessageInflater? = nil) {
        self.maximumMessageSize = maximumMessageSize
        self.inflater = inflater
    }

    /// The maximum size of a message as it is sent: compression makes bytes without repetitions a little longer.
    var maximumPayloadSize: Int {
        inflater == nil ? maximumMessageSize : maximumMessageSize + maximumMessageSize / 1000 + 64
    }

    // MARK: Receiving

    mutating func received(_ frame: WebSocketFrame) -> Action {
        guard phase != .closed else { return .none }
        let action = interpret(frame)
        if case .fail = action { phase = .closed }
        return action
    }

    private mutating func interpret(_ frame: WebSocketFrame) -> Action {
        let mayBeCompressed = inflater != nil && (frame.opcode == .text || frame.opcode == .binary)
        guard !frame.rsv1 || mayBeCompressed, !frame.rsv2, !frame.rsv3 else {
            return violation("a frame with a reserved bit")
        }
        guard frame.maskKey == nil else { return violation("a masked frame") }
        switch frame.opcode {
        case .ping: return phase == .open ? .pong(frame.data) : .none
        case .pong: return .ponged
        case .connectionClose: return receivedClose(frame.data)
        case .text, .binary:
            guard fragments == nil else { return violation("a new message within another one") }
            return add(
                Fragments(isText: frame.opcode == .text, isCompressed: frame.rsv1, bytes: frame.data),
                isLast: frame.fin)
        case .continuation:
            guard var fragments else { return violation("a continuation without a message") }
            guard frame.data.readableBytes <= maximumPayloadSize - fragments.bytes.readableBytes else {
                return tooLarge
            }
            // Not shared with the machine while it grows, so that it is not copied.
            self.fragments = nil
            fragments.bytes.writeImmutableBuffer(frame.data)
            return add(fragments, isLast: frame.fin)
        default:
            return violation("a frame of an unknown kind")
        }
    }

    private mutating func add(_ message: Fragments, isLast: Bool) -> Action {
        let limit = message.isCompressed ? maximumPayloadSize : maximumMessageSize
        guard message.bytes.readableBytes <= limit else { return tooLarge }
        guard isLast else {
            fragments = message
            return .none
        }
        fragments = nil
        var message = message
        if message.isCompressed, let inflater {
            do throws(MessageInflater.Failure) {
                message.bytes = try inflater.inflate(message.bytes, upTo: maximumMessageSize)
            } catch .tooLarge {
                return tooLarge
            } catch {
                return .fail(
                    WebSocketError(.protocolViolation, "The server sent a message that cannot be decompressed."),
                    .invalidPayload)
            }
        }
        guard message.isText else { return .deliver(.binary(Data(message.bytes.readableBytesView))) }
        guard let text = String(validating: message.bytes.readableBytesView, as: UTF8.self) else {
            return .fail(WebSocketError(.invalidText, "The server sent a text that is not UTF-8."), .invalidPayload)
        }
        return .deliver(.text(text))
    }

    private mutating func receivedClose(_ payload: ByteBuffer) -> Action {
        var rest = payload
        let code = rest.readInteger(as: UInt16.self).map { WebSocketCloseCode(rawValue: $0) }
        guard payload.readableBytes != 1 else { return violation("a Close frame of one byte") }
        guard code?.isSendable ?? true else { return violation("a Close frame with an invalid code") }
        guard let reason = String(validating: rest.readableBytesView, as: UTF8.self) else {
            return .fail(
                WebSocketError(.invalidText, "The server sent a reason for closing that is not UTF-8."), .invalidPayload
            )
        }
        let reply = phase == .open ? Self.closePayload(code, reason: "") : nil
        phase = .closed
        return .closed(WebSocketClosure(code: code ?? .noStatusReceived, reason: reason), reply: reply)
    }

    private var tooLarge: Action {
        .fail(
            WebSocketError(.messageTooLarge, "The server sent a message of more than \(maximumMessageSize) bytes."),
            .messageTooBig)
    }

    private func violation(_ what: String) -> Action {
        .fail(WebSocketError(.protocolViolation, "The server sent \(what)."), .protocolError)
    }

    // MARK: Closing

    /// Starts the closing handshake. Returns false if it was started or the connection has ended.
    mutating func close() -> Bool {
        guard phase == .open else { return false }
        phase = .closing
        return true
    }

    /// The connection has failed or ended. Returns false if its end was known before.
    mutating func end() -> Bool {
        defer { phase = .closed }
        fragments = nil
        return phase != .closed
    }

    /// The payload of a Close frame; empty without a code.
    static func closePayload(_ code: WebSocketCloseCode?, reason: String) -> ByteBuffer {
        var payload = ByteBuffer()
        guard let code else { return payload }
        payload.writeInteger(code.rawValue)
        payload.writeString(reason)
        return payload
    }
}
