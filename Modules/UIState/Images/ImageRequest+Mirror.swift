internal import LinnetSession

extension ImageRequest: CustomReflectable {
    /// The properties, redacted with `Redaction.standard`.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "url": Redaction.standard.text(of: url), "headerFields": Redaction.standard.lines(of: headerFields),
                "options": options, "processors": processors.map(\.identifier), "priority": priority,
            ], displayStyle: .struct)
    }
}

extension WebContentState.Content: CustomReflectable {
    /// The properties, redacted with `Redaction.standard`, and the size of the page.
    public nonisolated var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "data": "\(data.count) bytes", "mimeType": mimeType as Any, "textEncodingName": textEncodingName as Any,
                "baseURL": Redaction.standard.text(of: baseURL),
            ], displayStyle: .struct)
    }
}
