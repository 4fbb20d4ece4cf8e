internal import LinnetSession

extension WebSocket: CustomReflectable {
    /// The protocol and the response, redacted with `Redaction.standard`.
    public var customMirror: Mirror {
        Mirror(self, children: ["subprotocol": subprotocol as Any, "response": response])
    }
}

extension ReconnectingWebSocket: CustomReflectable {
    /// Nothing: the socket knows its call.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
