public import FoundationEssentials

/// Where and why a text is not JSON.
public struct JSONSyntaxError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// What is wrong, in words.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The text ends inside a value.
        public static let unexpectedEnd = Kind("unexpected end")
        /// A character that cannot stand here.
        public static let unexpectedCharacter = Kind("unexpected character")
        /// A number that does not follow the grammar (RFC 8259, section 6).
        public static let invalidNumber = Kind("invalid number")
        /// An unknown escape in a string, or half a surrogate pair.
        public static let invalidEscape = Kind("invalid escape")
        /// A string holds an unescaped control character.
        public static let controlCharacter = Kind("control character in a string")
        /// A string is not UTF-8.
        public static let invalidUTF8 = Kind("invalid UTF-8")
        /// Arrays and objects are nested deeper than the limit.
        public static let nestedTooDeep = Kind("nested too deep")
        /// An object has a name twice, and the options refuse that.
        public static let duplicateName = Kind("duplicate name")
        /// Something follows the value.
        public static let trailingCharacters = Kind("characters after the value")
        /// The value at the top is neither an object nor an array, and the options want one.
        public static let fragment = Kind("neither an object nor an array")
    }

    /// What is wrong.
    public let kind: Kind
    /// The offset in bytes of where it was seen.
    public let offset: Int

    /// One sentence that says what is wrong, and where.
    public var description: String { "The text is not JSON: \(reason)." }
    /// The same as ``description``.
    public var errorDescription: String? { description }

    /// What is wrong, and where, for a sentence around it.
    var reason: String { "\(kind) at byte \(offset)" }
}
