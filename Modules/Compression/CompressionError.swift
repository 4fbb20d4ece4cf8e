public import FoundationEssentials

/// A failure of a content coding.
public struct CompressionError: Error, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        /// Creates a code of a coding.
        ///
        /// - Parameter description: The name of the code.
        public init(_ description: String) { self.description = description }

        /// The bytes are invalid in the coding, or a checksum or a length is wrong.
        public static let invalidData = Code("invalidData")
        /// The content ends in the middle.
        public static let truncated = Code("truncated")
        /// The content is followed by other bytes.
        public static let trailingBytes = Code("trailingBytes")
        /// The decoded content is larger than ``DecodingLimits/maximumSize``.
        public static let sizeExceeded = Code("sizeExceeded")
        /// The decoded content exceeds ``DecodingLimits/maximumRatio``, like the content of a decompression bomb.
        public static let ratioExceeded = Code("ratioExceeded")
        /// The content needs more memory for decoding than the coding allows.
        public static let windowTooLarge = Code("windowTooLarge")
        /// The content has more codings than ``DecodingLimits/maximumCodings``.
        public static let tooManyCodings = Code("tooManyCodings")
        /// No coding has the name.
        public static let unknownCoding = Code("unknownCoding")
        /// The coding can only be decoded.
        public static let noEncoder = Code("noEncoder")
        /// The library of the coding failed, for example for lack of memory.
        public static let libraryFailed = Code("libraryFailed")
    }

    /// The kind of the failure.
    public let code: Code
    /// The failure and its cause, in one sentence.
    public let message: String

    /// Creates an error.
    public init(code: Code, message: String) {
        self.code = code
        self.message = message
    }
}

extension CompressionError: CustomStringConvertible, LocalizedError {
    /// The message.
    public var description: String { message }

    /// The message, which is also the error's `localizedDescription`.
    public var errorDescription: String? { message }
}

extension CompressionError {
    package static func invalidData(_ coding: String, _ reason: String?) -> CompressionError {
        CompressionError(
            code: .invalidData,
            message: "The content is not valid in the coding \(coding)\(reason.map { ": \($0)" } ?? "").")
    }

    package static func trailingBytes(_ coding: String) -> CompressionError {
        CompressionError(code: .trailingBytes, message: "Other bytes follow the content in the coding \(coding).")
    }

    package static func libraryFailed(_ coding: String, _ reason: String) -> CompressionError {
        CompressionError(code: .libraryFailed, message: "The library of the coding \(coding) failed: \(reason).")
    }
}
