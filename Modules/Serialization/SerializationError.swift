public import FoundationEssentials

/// Why a value could not be made into a request, or a response into a value.
public struct SerializationError: Error, Sendable {
    /// What kind of failure it was.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The response's status is not in the set that the validation accepts.
        public static let unacceptableStatus = Code("unacceptableStatus")
        /// The response's Content-Type is not one that the validation accepts.
        public static let unacceptableContentType = Code("unacceptableContentType")
        /// The response has no body, and the validation wants one.
        public static let emptyBody = Code("emptyBody")
        /// The response's body is not what the serializer reads.
        public static let decodingFailed = Code("decodingFailed")
        /// A value cannot be written in the serializer's format, such as a NaN in JSON.
        public static let encodingFailed = Code("encodingFailed")
        /// The parameters do not fit the serializer, such as a top-level array in a query.
        public static let invalidParameters = Code("invalidParameters")
        /// A header field's name or value is not allowed on the wire (RFC 9110, section 5).
        public static let invalidHeader = Code("invalidHeader")
        /// The URL cannot carry the query.
        public static let invalidURL = Code("invalidURL")
        /// The body was read already and can be read only once.
        public static let bodyNotReplayable = Code("bodyNotReplayable")
        /// The file that is to be a body cannot be read: it is not there, not a regular file, or not permitted. The
        /// underlying error is a ``FileFailure``.
        public static let bodyFileUnreadable = Code("bodyFileUnreadable")
        /// A file that the body is read from changed since its size was taken.
        public static let bodyFileChanged = Code("bodyFileChanged")
        /// The value is nested deeper than the limit.
        public static let nestedTooDeep = Code("nestedTooDeep")
    }

    /// What kind of failure it was.
    public var code: Code
    /// One line that a person can act on.
    public var message: String
    /// The error that caused this one, if any.
    ///
    /// When both the status and the content type are unacceptable, the status is the error and the type is here.
    public var underlying: (any Error)?
    /// The response that was being read, with its body; nil for errors of requests.
    public var response: SerializedResponse?

    /// Creates an error.
    public init(
        code: Code,
        message: String,
        underlying: (any Error)? = nil,
        response: SerializedResponse? = nil
    ) {
        self.code = code
        self.message = message
        self.underlying = underlying
        self.response = response
    }
}

extension SerializationError: LocalizedError, CustomStringConvertible {
    /// The message.
    public var description: String { message }
    /// The message.
    public var errorDescription: String? { message }
}

/// What an encoder, a decoder or a closure threw, as the end of a sentence without its full stop.
func reason(of error: any Error) -> String {
    let text =
        switch error {
        case let error as DecodingError: error.reason
        case let error as EncodingError: error.reason
        default: String(describing: error)
        }
    return text.hasSuffix(".") ? String(text.dropLast()) : text
}

extension DecodingError {
    fileprivate var reason: String {
        switch self {
        case .keyNotFound(let key, let context):
            "the key \(key.stringValue.debugDescription) is missing at \(place(context.codingPath))"
        case .valueNotFound(let type, let context):
            "the value at \(place(context.codingPath)) is missing or null, and not of type \(type)"
        case .typeMismatch(let type, let context):
            "the value at \(place(context.codingPath)) is not of type \(type)"
        case .dataCorrupted(let context): problem(context.debugDescription, context.codingPath)
        @unknown default: String(describing: self)
        }
    }
}

extension EncodingError {
    fileprivate var reason: String {
        switch self {
        case .invalidValue(_, let context): problem(context.debugDescription, context.codingPath)
        @unknown default: String(describing: self)
        }
    }
}

private func problem(_ description: String, _ path: [any CodingKey]) -> String {
    let text = description.hasSuffix(".") ? String(description.dropLast()) : description
    return path.isEmpty ? text : "at \(place(path)), \(text)"
}

/// A coding path as code has it: `posts[0].author`.
private func place(_ path: [any CodingKey]) -> String {
    if path.isEmpty { return "the top" }
    return path.reduce(into: "") { text, key in
        if let index = key.intValue {
            text += "[\(index)]"
        } else {
            text += text.isEmpty ? key.stringValue : "." + key.stringValue
        }
    }
}
