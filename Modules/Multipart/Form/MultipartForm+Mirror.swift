extension MultipartForm: CustomReflectable {
    /// The subtype and the number of parts, without their contents.
    public var customMirror: Mirror {
        Mirror(self, children: ["subtype": subtype, "count": count], displayStyle: .struct)
    }
}

extension MultipartPart: CustomReflectable {
    /// The name, the type and the size, without the body.
    public var customMirror: Mirror {
        Mirror(
            self,
            children: [
                "name": name as Any, "fileName": fileName as Any, "contentType": contentType as Any,
                "body": "\(body.count) bytes", "parts": parts,
            ], displayStyle: .struct)
    }
}
