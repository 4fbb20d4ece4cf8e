internal import LinnetSession

extension WebSocket: CustomReflectable {
    /// The protocol and the response, redacted with `Redaction.standard`.
    public var customMirror: Mirror {
        Mirror(self, children: ["subprotocol": subprotocol as Any, "response": response])
    }
}

extension ReconnectingWebSocket: CustomReflectable {
    /// No properties, because the socket's call has secrets.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
