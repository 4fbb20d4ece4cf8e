public import FoundationEssentials

// The folder's door: the rest of Serialization reads and writes property lists through this file. Behind it are a
// reader and a writer for each format, and the dates of XML. They promise:
//
// - No bytes end the process or take more than linear time: depth, cycles and the expansion of shared objects are
//   limited before memory is taken.
// - XML and binary hold the same values, and a written value is read back. A value that a format cannot hold is an
//   error.
// - `DecodablePropertyListResponseSerializer` decodes with Foundation, but only bytes that passed the reader.
//
// Foundation's `PropertyListSerialization` does not replace them: it is not in FoundationEssentials, and Foundation
// adds 44 MB to a static program. It ends the process for a set in a binary property list, expands shared objects
// without a limit, and writes control characters that XML cannot contain. A scan in front of it would be most of a
// reader.

extension PropertyListValue {
    /// Parses a property list in XML or binary, which the bytes tell. The old text format is not supported.
    ///
    /// A repeated key has its last value; keys that are canonically equivalent but differ in their bytes are an
    /// error. In XML, space around numbers, dates and data is ignored, line ends in texts become LF (XML 1.0, section
    /// 2.11), and dates are Gregorian (ISO 8601).
    ///
    /// - Throws: ``PropertyListSyntaxError``.
    public init(
        parsing data: Data,
        options: ParsingOptions = ParsingOptions()
    ) throws(PropertyListSyntaxError) {
        let bytes = [UInt8](data)
        if bytes.starts(with: "bplist".utf8) {
            var reader = try BinaryPropertyListReader(bytes, options: options)
            self = try reader.read()
        } else {
            var reader = try XMLPropertyListReader(bytes, options: options)
            self = try reader.read()
        }
    }
}

extension PropertyListValue {
    /// The format of a property list.
    public struct Format: Sendable, Hashable, Codable {
        enum Kind: String, Sendable, Codable { case xml, binary }
        let kind: Kind

        /// XML, version 1.0.
        public static let xml = PropertyListValue.Format(kind: .xml)
        /// Binary, version 1.0: `bplist00`.
        public static let binary = PropertyListValue.Format(kind: .binary)
    }
}

extension PropertyListValue {
    /// The value in a format. Equal values give equal bytes, since keys are sorted.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/nestedTooDeep`` beyond 512 levels; with
    ///   ``SerializationError/Code/encodingFailed`` if the top-level value is neither an array nor a dictionary, or
    ///   the format cannot represent a value: in XML a control character (XML 1.0, section 2.2) or a year with more
    ///   than nine digits, in both a date that is not finite.
    public func data(format: PropertyListValue.Format = .xml) throws(SerializationError) -> Data {
        switch self {
        case .array, .dictionary: break
        default:
            throw SerializationError(
                code: .encodingFailed,
                message: "A property list must be an array or a dictionary at the top."
            )
        }
        return try written(format)
    }

    /// The value in a format, with any top-level value.
    func written(_ format: PropertyListValue.Format) throws(SerializationError) -> Data {
        guard format == .xml else { return try BinaryPropertyListWriter.data(self) }
        var writer = XMLPropertyListWriter()
        try writer.write(top: self)
        return Data(writer.bytes)
    }
}
