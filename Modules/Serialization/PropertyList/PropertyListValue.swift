public import FoundationEssentials

/// A property list's value, as a tree: what Apple's `plist` files hold.
///
/// It has no null, and its dictionaries have no order.
public enum PropertyListValue: Sendable, Hashable {
    /// A truth value.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number above `Int64.max`.
    case unsigned(UInt64)
    /// A floating-point number.
    case real(Double)
    /// A text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// A moment; whole seconds in XML.
    case date(Date)
    /// Values in order.
    case array([PropertyListValue])
    /// Named values. Of texts that are canonically equivalent, such as `é` in its two spellings, there is one.
    case dictionary([String: PropertyListValue])

    /// Reads a property list, in XML or binary, which the bytes tell; the old text form is not read.
    ///
    /// Of a key that occurs twice, the last value holds; two that are canonically equivalent, but not the same, are an
    /// error. Space around numbers, dates and data in XML does not count, line ends in texts become LF (XML 1.0, section
    /// 2.11), and dates are Gregorian at all times (ISO 8601).
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

    /// The value of a name, if this is a dictionary that has it.
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

    /// The number as an `Int`, if this is a whole one that fits.
    public var int: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .unsigned(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number as the nearest `Double`, if this is one.
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
    /// Makes ``PropertyListValue/bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Makes ``PropertyListValue/integer(_:)``.
    public init(integerLiteral value: Int64) { self = .integer(value) }

    /// Makes ``PropertyListValue/real(_:)``.
    public init(floatLiteral value: Double) { self = .real(value) }

    /// Makes ``PropertyListValue/string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Makes ``PropertyListValue/array(_:)``.
    public init(arrayLiteral elements: PropertyListValue...) { self = .array(elements) }

    /// Makes ``PropertyListValue/dictionary(_:)``; the last value of a repeated name counts.
    public init(dictionaryLiteral elements: (String, PropertyListValue)...) {
        self = .dictionary(Dictionary(elements) { _, last in last })
    }
}

extension [String: PropertyListValue] {
    /// Sets the value of a key; false if there is a key that is canonically equivalent, but written otherwise.
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

/// How a property list is written.
public struct PropertyListFormat: Sendable, Hashable, Codable {
    enum Kind: String, Sendable, Codable { case xml, binary }
    let kind: Kind

    /// XML, version 1.0.
    public static let xml = PropertyListFormat(kind: .xml)
    /// Binary, version 1.0: `bplist00`.
    public static let binary = PropertyListFormat(kind: .binary)
}

extension PropertyListValue {
    /// The value as a property list of a format. The same value is always written the same: the keys stand in the order of
    /// their bytes.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/nestedTooDeep`` beyond 512 levels, and with
    ///   ``SerializationError/Code/encodingFailed`` when the value at the top is neither an array nor a dictionary, or it
    ///   holds what the format has not: in XML a control character (XML 1.0, section 2.2) or a date beyond the years of
    ///   nine digits, in both a date that is no number.
    public func data(format: PropertyListFormat = .xml) throws(SerializationError) -> Data {
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

    /// The value as a property list, whatever stands at the top.
    func written(_ format: PropertyListFormat) throws(SerializationError) -> Data {
        guard format == .xml else { return try BinaryPropertyListWriter.data(self) }
        var writer = XMLPropertyListWriter()
        try writer.write(top: self)
        return Data(writer.bytes)
    }
}

extension PropertyListValue: Encodable {
    /// Writes the value as its plain Swift counterpart.
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
    /// Makes a property list of parameters.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidParameters`` for null and for sets, which
    ///   property lists do not have, and for two names that Swift takes for one (`é` in its two spellings); with ``SerializationError/Code/nestedTooDeep`` beyond 512 levels.
    public init(_ value: ParameterValue) throws(SerializationError) { try self.init(value, depth: 0) }

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
                        message: "Two names are canonically equivalent to \(entry.key.debugDescription); keep one."
                    )
                }
            }
            self = .dictionary(named)
        }
    }

    private static func missing(_ what: String) -> SerializationError {
        SerializationError(
            code: .invalidParameters,
            message: "Property lists have no \(what); leave it out, or pass something else."
        )
    }
}
