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

extension SerializationError: CustomStringConvertible {
    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
