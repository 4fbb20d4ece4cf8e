public import FoundationEssentials

/// A failure to make a form's body, or to read a multipart body.
public struct MultipartError: Error, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The form has no parts, although RFC 2046 requires one.
        public static let emptyForm = Code("emptyForm")
        /// The boundary is invalid (RFC 2046, section 5.1.1).
        public static let invalidBoundary = Code("invalidBoundary")
        /// The requested boundary occurs in a part.
        public static let boundaryInPart = Code("boundaryInPart")
        /// The subtype, or a parameter of it, is invalid in a Content-Type.
        public static let invalidSubtype = Code("invalidSubtype")
        /// A part's content type is not a media type.
        public static let invalidContentType = Code("invalidContentType")
        /// A part's name or file name has a control character, which a header cannot carry (RFC 9110, section 5.5).
        public static let invalidName = Code("invalidName")
        /// The parameters cannot be encoded, or cannot be flattened into parts.
        public static let invalidParameters = Code("invalidParameters")
        /// The file cannot be read: it is missing, not a regular file, or not permitted.
        public static let unreadableFile = Code("unreadableFile")
        /// The file's size has changed since it was appended, or the file is gone.
        public static let fileChanged = Code("fileChanged")
        /// A stream had more or fewer bytes than its declared length.
        public static let lengthMismatch = Code("lengthMismatch")
        /// A stream was read already, and can be read only once.
        public static let partNotReplayable = Code("partNotReplayable")
        /// The file for the body cannot be written.
        public static let unwritableFile = Code("unwritableFile")

        /// The content type is not a multipart type, or has no boundary.
        public static let notMultipart = Code("notMultipart")
        /// The body's lines end in LF alone (RFC 2046, section 4.1.1, requires CR LF).
        public static let bareLineFeed = Code("bareLineFeed")
        /// A part's header is malformed (RFC 2046, section 5.1; RFC 822).
        public static let malformedHeader = Code("malformedHeader")
        /// The body ended before its last delimiter.
        public static let truncated = Code("truncated")
        /// The body has more parts than the limit.
        public static let tooManyParts = Code("tooManyParts")
        /// A part's header has more bytes than the limit.
        public static let headerTooLarge = Code("headerTooLarge")
        /// A part's header has more fields than the limit.
        public static let tooManyHeaderFields = Code("tooManyHeaderFields")
        /// Multipart bodies are nested deeper than the limit.
        public static let nestedTooDeep = Code("nestedTooDeep")
        /// The body has more bytes than the limit.
        public static let bodyTooLarge = Code("bodyTooLarge")
    }

    /// The kind of failure.
    public var code: Code
    /// One line with the failure and its remedy.
    public var message: String
    /// The name of the part that failed, if it is one part and has a name.
    public var partName: String?
    /// The index of the part that failed, from 0, if it is one part of a form.
    public var partIndex: Int?
    /// The error that caused this one, if any. For a file it is a `FileFailure` with the path and the system's error
    /// number.
    public var underlying: (any Error)?

    /// Creates an error.
    public init(
        code: Code, message: String, partName: String? = nil, partIndex: Int? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.partName = partName
        self.partIndex = partIndex
        self.underlying = underlying
    }
}

extension MultipartError: LocalizedError, CustomStringConvertible {
    /// The message.
    public var description: String { message }
    /// The message.
    public var errorDescription: String? { message }
}
