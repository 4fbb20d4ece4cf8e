public import FoundationEssentials

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A failure to make a cookie, or to read or write a file of cookies.
public struct CookieError: Error, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The cookie breaks a rule of RFC 6265bis, section 5.7, or its text could not be sent.
        public static let invalidCookie = Code("invalidCookie")
        /// The file exists and cannot be read.
        public static let unreadableFile = Code("unreadableFile")
        /// The file, or the lock file beside it, cannot be written.
        public static let unwritableFile = Code("unwritableFile")
        /// The file is not a store of cookies, or is damaged. It was renamed to ``CookieError/setAsidePath``.
        public static let corruptFile = Code("corruptFile")
        /// A later version of this library wrote the file. The file is unchanged.
        public static let unsupportedVersion = Code("unsupportedVersion")
    }

    /// The kind of the failure.
    public let code: Code
    /// The failure and its cause, in one sentence.
    public let message: String
    /// The path of the file, if a file is concerned.
    public let path: String?
    /// The system's error number (`errno`) when a system call failed.
    public let errorNumber: Int32?
    /// The new path of a corrupt file that was renamed; nil if it is still in its place.
    public internal(set) var setAsidePath: String?

    init(_ code: Code, message: String) {
        (self.code, self.message) = (code, message)
        (path, errorNumber) = (nil, nil)
    }

    /// - Parameters:
    ///   - failure: The predicate of a sentence about the file, without a full stop.
    init(_ code: Code, file path: String, _ failure: String, errorNumber: Int32? = nil) {
        (self.code, self.path, self.errorNumber) = (code, path, errorNumber)
        let reason = errorNumber.flatMap { strerror($0) }.map { ": " + String(cString: $0) } ?? ""
        message = "The file \(path) \(failure)\(reason)."
    }
}

extension CookieError: CustomStringConvertible, LocalizedError {
    /// The message.
    public var description: String { message }

    /// The message, which is also the error's `localizedDescription`.
    public var errorDescription: String? { message }
}
