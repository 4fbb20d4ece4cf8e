public import FoundationEssentials

/// A failure of a cache's store. It never fails the request: the response is just not stored, or not taken from the
/// cache.
public struct CacheError: Error, Sendable {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name of the code.
        public let description: String

        /// Creates a code of a store.
        ///
        /// - Parameter description: The name of the code.
        public init(_ description: String) { self.description = description }

        /// The entry is larger than the store allows.
        public static let entryTooLarge = Code("entryTooLarge")
        /// The entry or its key was removed before the entry was complete.
        public static let entryRemoved = Code("entryRemoved")
        /// The requested bytes are not in the stored body.
        public static let rangeNotStored = Code("rangeNotStored")
    }

    /// The kind of the failure.
    public let code: Code
    /// The failure and its cause, in one sentence.
    public let message: String
    /// The error that caused this one, if any.
    public let underlying: (any Error)?

    /// Creates an error.
    public init(code: Code, message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }
}

extension CacheError: CustomStringConvertible, LocalizedError {
    /// The message.
    public var description: String { message }

    /// The message, which is also the error's `localizedDescription`.
    public var errorDescription: String? { message }
}
