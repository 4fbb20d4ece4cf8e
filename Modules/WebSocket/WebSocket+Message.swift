public import FoundationEssentials

extension WebSocket {
    /// A message of a WebSocket (RFC 6455, section 5.6).
    public enum Message: Sendable, Hashable {
        /// A text, which is UTF-8 on the wire.
        case text(String)
        /// Bytes.
        case binary(Data)
    }
}

extension WebSocket {
    /// The reason for closing a WebSocket, in the closing handshake (RFC 6455, section 7.4).
    public struct CloseCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The number in the frame.
        public let rawValue: UInt16

        /// Creates a code from its number. Codes that a program may send are 1000 to 1003, 1007 to 1014 and 3000 to 4999.
        public init(rawValue: UInt16) { self.rawValue = rawValue }

        /// 1000: the purpose of the connection was fulfilled.
        public static let normalClosure = WebSocket.CloseCode(rawValue: 1000)
        /// 1001: the peer is going away, for example because it shuts down.
        public static let goingAway = WebSocket.CloseCode(rawValue: 1001)
        /// 1002: the peer violated the protocol.
        public static let protocolError = WebSocket.CloseCode(rawValue: 1002)
        /// 1003: the peer does not accept this kind of message.
        public static let unsupportedData = WebSocket.CloseCode(rawValue: 1003)
        /// 1005: the peer's Close frame has no code. Never sent.
        public static let noStatusReceived = WebSocket.CloseCode(rawValue: 1005)
        /// 1007: the payload does not match the kind of message, for example a text that is not UTF-8.
        public static let invalidPayload = WebSocket.CloseCode(rawValue: 1007)
        /// 1008: the message violates the peer's policy.
        public static let policyViolation = WebSocket.CloseCode(rawValue: 1008)
        /// 1009: the message is too large.
        public static let messageTooBig = WebSocket.CloseCode(rawValue: 1009)
        /// 1011: the server met an unexpected condition.
        public static let internalError = WebSocket.CloseCode(rawValue: 1011)
        /// 1012: the server restarts (IANA's registry).
        public static let serviceRestart = WebSocket.CloseCode(rawValue: 1012)
        /// 1013: the server is overloaded; try again later (IANA's registry).
        public static let tryAgainLater = WebSocket.CloseCode(rawValue: 1013)
        /// 1014: a gateway had no valid response of the server behind it (IANA's registry).
        public static let badGateway = WebSocket.CloseCode(rawValue: 1014)

        /// Whether the code is valid in a Close frame (RFC 6455, section 7.4.1, and IANA's registry).
        var isSendable: Bool {
            switch rawValue {
            case 1000...1003, 1007...1014, 3000...4999: true
            default: false
            }
        }

        /// Throws if a Close frame with the code and a reason must not be sent.
        func verifySendable(with reason: String) throws(WebSocketError) {
            guard isSendable, reason.utf8.count <= WebSocketStateMachine.mostReasonBytes else {
                throw WebSocketError(
                    .invalidClosure, "The code \(self) cannot be sent, or the reason has more than 123 bytes.")
            }
        }

        /// The number.
        public var description: String { String(rawValue) }
    }
}

extension WebSocket {
    /// The end of a WebSocket that was closed in the closing handshake.
    public struct Closure: Sendable, Hashable {
        /// The code of the peer's Close frame.
        public var code: WebSocket.CloseCode
        /// The reason in the peer's Close frame; in most cases empty.
        public var reason: String
    }
}
