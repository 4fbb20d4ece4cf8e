public import FoundationEssentials

/// An error of encoding a request or decoding a response.
public struct SerializationError: Error, Sendable {
    /// The kind of an error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The validation does not accept the response's status.
        public static let unacceptableStatus = Code("unacceptableStatus")
        /// The validation does not accept the response's Content-Type.
        public static let unacceptableContentType = Code("unacceptableContentType")
        /// A closure of the user's refuses the response; its error is the underlying error.
        public static let unacceptableResponse = Code("unacceptableResponse")
        /// The response has no body, but the validation or the type requires one.
        public static let emptyBody = Code("emptyBody")
        /// The response's body cannot be decoded.
        public static let decodingFailed = Code("decodingFailed")
        /// The serializer's format cannot represent a value, for example NaN in JSON.
        public static let encodingFailed = Code("encodingFailed")
        /// The parameters do not suit the serializer, for example an array at the top level of a query.
        public static let invalidParameters = Code("invalidParameters")
        /// The name or the value of a header field is invalid (RFC 9110, section 5).
        public static let invalidHeader = Code("invalidHeader")
        /// The URL is not of the required kind, or cannot carry the query.
        public static let invalidURL = Code("invalidURL")
        /// The body was read before, and can be read only once.
        public static let bodyNotReplayable = Code("bodyNotReplayable")
        /// The file of a body cannot be read: it does not exist, is not a regular file, or access is denied. The
        /// underlying error is a ``FileFailure``.
        public static let bodyFileUnreadable = Code("bodyFileUnreadable")
        /// The file of a body changed after its size was determined.
        public static let bodyFileChanged = Code("bodyFileChanged")
        /// The value exceeds the limit on nesting.
        public static let nestedTooDeep = Code("nestedTooDeep")
    }

    /// The kind of the error.
    public var code: Code
    /// A sentence about the failure.
    public var message: String
    /// The error that caused this one, if any.
    ///
    /// If both the status and the body are unacceptable, the error is about the status, and the underlying error
    /// about the body.
    public var underlying: (any Error)?
    /// The response with its body; nil for errors of requests.
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

/// The description of an encoder's, a decoder's or a closure's error, for the end of a sentence: without a full stop.
func reason(of error: any Error) -> String {
    let text =
        switch error {
        case let error as DecodingError: error.reason
        case let error as EncodingError: error.reason
        case let error as any LocalizedError: error.errorDescription ?? String(describing: error)
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

/// A coding path in the form `posts[0].author`.
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
