internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages

// The mirrors are redacted with `Redaction.standard`, so that `dump` shows no secret.

extension StoredResponse: CustomReflectable {
    /// The properties, redacted.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "id": id.rawValue, "key": key, "status": head.status,
                "headerFields": Redaction.standard.lines(of: head.headerFields), "variant": variant,
                "requestTime": requestTime, "responseTime": responseTime, "part": part as Any, "bodySize": bodySize,
            ], displayStyle: .struct)
    }
}

extension StoredResponse.Variant: CustomReflectable {
    /// The names of the fields, without the values of the request.
    public var customMirror: Mirror {
        Mirror(self, children: ["fieldNames": fields.map(\.name)], displayStyle: .struct)
    }
}

extension CacheKey: CustomDebugStringConvertible, CustomReflectable {
    /// The canonical URL, redacted, for logs; ``description`` is complete.
    public var debugDescription: String { URL(string: description).map(Redaction.standard.text) ?? Redaction.mark }

    /// The canonical URL, redacted.
    public var customMirror: Mirror { Mirror(self, children: ["url": debugDescription]) }
}
