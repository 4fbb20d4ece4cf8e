internal import HTTPTypes
internal import LinnetMessages

// Mirrors, redacted with `Redaction.standard`, so that `print` and `dump` show no secret.

extension TransportRequest: CustomReflectable {
    /// The properties, redacted, and the body without its bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "method": head.method.rawValue, "url": Redaction.standard.text(of: head),
                "headerFields": Redaction.standard.lines(of: head.headerFields), "body": body as Any,
                "timeouts": timeouts, "delivery": delivery, "priority": priority,
            ], displayStyle: .struct)
    }
}

extension TransportRequestBody: CustomReflectable {
    /// The length, without the bytes.
    public var customMirror: Mirror {
        Mirror(self, children: ["length": length as Any, "isReplayable": isReplayable], displayStyle: .struct)
    }
}

extension TransportResponse: CustomReflectable {
    /// The properties, redacted, and the body without its bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "status": head.status, "headerFields": Redaction.standard.lines(of: head.headerFields), "body": body,
                "attempts": attempts,
            ], displayStyle: .struct)
    }
}

extension TransportResponseBody: CustomReflectable {
    /// The facts that are known after the body was read, without its bytes.
    public var customMirror: Mirror {
        Mirror(self, children: ["completion": completion as Any], displayStyle: .struct)
    }
}

extension TransportResponseBody.Completion: CustomReflectable {
    /// The properties, redacted.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: ["trailers": trailers.map(Redaction.standard.lines) as Any, "metrics": metrics],
            displayStyle: .struct)
    }
}

extension HTTPTransport: CustomReflectable {
    /// Nothing: the transport knows the requests that run.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
