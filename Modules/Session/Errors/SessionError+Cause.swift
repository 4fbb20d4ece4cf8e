extension SessionError {
    /// The text of an underlying error for the end of a message, with a full stop.
    package static func cause(_ error: any Error) -> String {
        let text = "\(error)"
        return text.hasSuffix(".") ? text : text + "."
    }
}
