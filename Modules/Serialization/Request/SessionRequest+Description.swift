internal import HTTPTypes
internal import LinnetMessages

// Descriptions and mirrors, redacted with `Redaction.standard`, so that neither `print` nor `dump` shows a secret.

extension SessionRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method, the URL and the header fields, redacted with `Redaction.standard`.
    public var description: String {
        let fields = Redaction.standard.lines(of: headerFields).joined(separator: ", ")
        return "\(method) \(Redaction.standard.text(of: url))" + (fields.isEmpty ? "" : " [\(fields)]")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The properties, redacted, and the body without its bytes.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "url": Redaction.standard.text(of: url), "method": method.rawValue,
                "headerFields": Redaction.standard.lines(of: headerFields), "body": body as Any, "options": options,
            ], displayStyle: .struct)
    }
}

extension HTTPRequestBody: CustomReflectable {
    /// The length and whether the body can be replayed, without its bytes.
    public var customMirror: Mirror {
        Mirror(self, children: ["length": length as Any, "isReplayable": isReplayable], displayStyle: .struct)
    }
}

extension RequestSerializerSettings: CustomReflectable {
    /// The properties, redacted.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "headerFields": Redaction.standard.lines(of: headerFields), "requestOptions": requestOptions,
                "methodsEncodingParametersInURL": methodsEncodingParametersInURL, "queryEncoder": queryEncoder,
            ], displayStyle: .struct)
    }
}

extension SerializedResponse: CustomReflectable {
    /// The properties, redacted, and the size of the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "url": url.map(Redaction.standard.text) as Any, "status": head.status,
                "headerFields": Redaction.standard.lines(of: head.headerFields), "body": "\(body.count) bytes",
                "requestMethod": requestMethod?.rawValue as Any,
            ], displayStyle: .struct)
    }
}
