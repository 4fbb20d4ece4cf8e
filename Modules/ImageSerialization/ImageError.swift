public import FoundationEssentials

/// An error of decoding or encoding an image.
public struct ImageError: Error, Sendable {
    /// The kind of an error.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The bytes are in none of the supported formats.
        public static let unknownFormat = Code("unknownFormat")
        /// The format is supported, but gdk-pixbuf has no loader for it on this machine.
        public static let noLoader = Code("noLoader")
        /// The image exceeds the limit on pixels, or the memory or time that decoding this many pixels may take;
        /// nothing was allocated for it.
        public static let tooManyPixels = Code("tooManyPixels")
        /// The image exceeds the limit on frames or pages.
        public static let tooManyFrames = Code("tooManyFrames")
        /// gdk-pixbuf failed to encode the image.
        public static let encodingFailed = Code("encodingFailed")
        /// The bytes are damaged or incomplete.
        public static let malformed = Code("malformed")
    }

    /// The kind of the error.
    public var code: Code
    /// A sentence about the failure.
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
