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
