public import FoundationEssentials

/// A value of a property list, the format of Apple's `plist` files.
///
/// There is no null, and dictionaries have no order.
public enum PropertyListValue: Sendable, Hashable {
    /// A Boolean.
    case bool(Bool)
    /// An integer.
    case integer(Int64)
    /// An integer above `Int64.max`.
    case unsigned(UInt64)
    /// A floating-point number.
    case real(Double)
    /// A text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A date; in whole seconds in XML.
    case date(Date)
    /// An array.
    case array([PropertyListValue])
    /// A dictionary. Canonically equivalent keys, such as the two forms of `é`, are one key.
    case dictionary([String: PropertyListValue])

    /// Parses a property list in XML or binary, which the bytes tell. The old text format is not supported.
    ///
    /// A repeated key has its last value; keys that are canonically equivalent but differ in their bytes are an
    /// error. In XML, space around numbers, dates and data is ignored, line ends in texts become LF (XML 1.0, section
    /// 2.11), and dates are Gregorian (ISO 8601).
    ///
    /// - Throws: ``PropertyListSyntaxError``.
    public init(
        parsing data: Data,
        options: PropertyListParsingOptions = PropertyListParsingOptions()
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

    /// The value for a name, if this is a dictionary that has it.
    public subscript(key: String) -> PropertyListValue? {
        if case .dictionary(let values) = self { values[key] } else { nil }
    }

    /// The element at an index, if this is an array that has it.
    public subscript(index: Int) -> PropertyListValue? {
        guard case .array(let values) = self, values.indices.contains(index) else { return nil }
        return values[index]
    }

    /// The text, if this is one.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The number as an `Int`, if this is an integer that fits.
    public var int: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .unsigned(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The nearest `Double`, if this is a number.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }
}

extension PropertyListValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates ``PropertyListValue/bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Creates ``PropertyListValue/integer(_:)``.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// Creates ``PropertyListValue/real(_:)``.
    public init(floatLiteral value: Double) { self = .real(value) }

    /// Creates ``PropertyListValue/string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Creates ``PropertyListValue/array(_:)``.
    public init(arrayLiteral elements: PropertyListValue...) { self = .array(elements) }

    /// Creates ``PropertyListValue/dictionary(_:)``; a repeated name has its last value.
    public init(dictionaryLiteral elements: (String, PropertyListValue)...) {
        self = .dictionary(Dictionary(elements) { _, last in last })
    }
}

extension [String: PropertyListValue] {
    /// Sets the value for a key; returns false if there is a canonically equivalent key with other bytes.
    mutating func set(_ value: PropertyListValue, forKey key: String) -> Bool {
        if let index = index(forKey: key) {
            guard self[index].key.utf8.elementsEqual(key.utf8) else { return false }
            values[index] = value
        } else {
            self[key] = value
        }
        return true
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

extension PropertyListValue: Encodable {
    /// Encodes the value as its Swift counterpart.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .dictionary(let value): try container.encode(value)
        }
    }
}

extension PropertyListValue {
    /// Converts parameters.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidParameters`` for null, sets and
    ///   canonically equivalent names (`é` in its two forms), which property lists do not have; with
    ///   ``SerializationError/Code/nestedTooDeep`` beyond 512 levels.
    package init(_ value: ParameterValue) throws(SerializationError) { try self.init(value, depth: 0) }

    private init(_ value: ParameterValue, depth: Int) throws(SerializationError) {
        try NestingLimit.check(depth)
        switch value {
        case .null: throw Self.missing("null")
        case .set: throw Self.missing("sets")
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .unsigned(value)
        case .double(let value): self = .real(value)
        case .decimal(let value): self = .string(value.description)
        case .string(let value): self = .string(value)
        case .data(let value): self = .data(value)
        case .date(let value): self = .date(value)
        case .array(let values):
            var elements: [PropertyListValue] = []
            for value in values { elements.append(try PropertyListValue(value, depth: depth + 1)) }
            self = .array(elements)
        case .dictionary(let entries):
            var named: [String: PropertyListValue] = [:]
            for entry in entries {
                guard named.set(try PropertyListValue(entry.value, depth: depth + 1), forKey: entry.key) else {
                    throw SerializationError(
                        code: .invalidParameters,
                        message:
                            "Two names are canonically equivalent to \(entry.key.debugDescription); use one of them."
                    )
                }
            }
            self = .dictionary(named)
        }
    }

    private static func missing(_ what: String) -> SerializationError {
        SerializationError(
            code: .invalidParameters,
            message: "Property lists have no \(what); omit the value, or use another type."
        )
    }
}
