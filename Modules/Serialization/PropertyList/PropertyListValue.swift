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
