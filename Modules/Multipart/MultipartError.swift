/// Why a form's body could not be made.
public struct MultipartError: Error, Sendable {
    /// What kind of failure it was.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The form has no part, which RFC 2046 does not allow.
        public static let emptyForm = Code("emptyForm")
        /// The boundary is not one by RFC 2046, section 5.1.1.
        public static let invalidBoundary = Code("invalidBoundary")
        /// The boundary that was asked for occurs in a part.
        public static let boundaryInPart = Code("boundaryInPart")
        /// A part's content type is not a media type.
        public static let invalidContentType = Code("invalidContentType")
        /// The parameters cannot be flattened into parts.
        public static let invalidParameters = Code("invalidParameters")
        /// The file cannot be read: it is not there, not a regular file, or not permitted.
        public static let unreadableFile = Code("unreadableFile")
        /// The file's size is not what it was when it was appended, or it is gone.
        public static let fileChanged = Code("fileChanged")
        /// A stream gave more or fewer bytes than its length said.
        public static let lengthMismatch = Code("lengthMismatch")
        /// A stream was read already, and can be read only once.
        public static let partNotReplayable = Code("partNotReplayable")
    }

    /// What kind of failure it was.
    public var code: Code
    /// One line that a person can act on.
    public var message: String
    /// The name of the part that failed, if it is one part.
    public var partName: String?
    /// The error that caused this one, if any.
    public var underlying: (any Error)?

    /// Creates an error.
    public init(code: Code, message: String, partName: String? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.partName = partName
        self.underlying = underlying
    }
}

extension MultipartError: CustomStringConvertible {
    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
