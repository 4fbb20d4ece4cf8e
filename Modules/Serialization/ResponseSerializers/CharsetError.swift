/// Why bytes are not a text in a charset.
public struct CharsetError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// What is wrong, in words.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The bytes are not in the charset.
        public static let malformed = Kind("not in the charset")
        /// The charset is known, but the C library has no converter for it: its module is not installed, or the program is
        /// linked statically and cannot load it.
        public static let noConverter = Kind("the C library has no converter for the charset")
    }

    /// What is wrong.
    public let kind: Kind
    /// The offset in bytes of where it was seen.
    public let offset: Int

    /// What is wrong, and where.
    public var description: String { kind == .malformed ? "\(kind) at byte \(offset)" : "\(kind)" }
}
