public import FoundationEssentials

/// Why a body was not read as an image; it underlies the serializer's error.
public struct ImageError: Error, Sendable {
    /// What kind of failure it was.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The bytes begin as no format does that is read here.
        public static let unknownFormat = Code("unknownFormat")
        /// The format is known, but gdk-pixbuf has no loader for it on this machine.
        public static let noLoader = Code("noLoader")
        /// The image has more pixels than the limit, or takes more memory than so many need; nothing was allocated for it.
        public static let tooManyPixels = Code("tooManyPixels")
        /// The image has more frames or pages than the limit.
        public static let tooManyFrames = Code("tooManyFrames")
        /// gdk-pixbuf could not write the image.
        public static let encodingFailed = Code("encodingFailed")
        /// The bytes are damaged or incomplete.
        public static let malformed = Code("malformed")
    }

    /// What kind of failure it was.
    public var code: Code
    /// One line that a person can act on.
    public var message: String

    /// Creates an error.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }
}

extension ImageError: LocalizedError, CustomStringConvertible {
    /// The message.
    public var description: String { message }
    /// The message.
    public var errorDescription: String? { message }
}
