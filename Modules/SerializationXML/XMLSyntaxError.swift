/// Where and why a text was not read as XML.
public struct XMLSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// What is wrong, in words.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// The text is not well-formed.
        public static let malformed = Kind("malformed")
        /// Elements are nested deeper than the limit.
        public static let nestedTooDeep = Kind("nested too deep")
        /// There are more elements and attributes than the limit.
        public static let tooManyNodes = Kind("too many nodes")
        /// The texts are larger than the document that they come from allows.
        public static let expandsTooMuch = Kind("expands too much")
        /// The document is in an encoding that is not read here.
        public static let unsupportedEncoding = Kind("unsupported encoding")
        /// The document declares entities.
        public static let entityDeclaration = Kind("entity declaration")
    }

    /// What is wrong.
    public let kind: Kind
    /// The line of where it was seen, from 1; 0 if the parser did not say.
    public let line: Int

    /// What is wrong, and where.
    public var description: String { "\(kind) at line \(line)" }
}
