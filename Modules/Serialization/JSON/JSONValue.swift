public import FoundationEssentials

/// A JSON value, as a tree.
///
/// ```swift
/// let value = try JSONValue(parsing: body)
/// let name = value["data"]?[0]?["user"]?["username"]?.string
/// ```
public enum JSONValue: Sendable, Hashable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number, with all its digits.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Named values in order.
    case object(JSONObject)

    /// Reads a UTF-8 text (RFC 8259); a byte order mark is skipped. Of a repeated name the last value counts,
    /// unless the options say otherwise.
    ///
    /// - Throws: ``JSONSyntaxError``, which says where.
    public init(parsing data: Data, options: JSONParsingOptions = JSONParsingOptions()) throws(JSONSyntaxError) {
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(JSONSyntaxError) in
                var parser = JSONParser(bytes: bytes, options: options)
                return try parser.parse()
            }
        }
        self = try result.get()
    }

    /// The value of a name, if this is an object that has it.
    public subscript(key: String) -> JSONValue? { object?[key] }

    /// The element at an index, if this is an array that has it.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let values) = self, values.indices.contains(index) else { return nil }
        return values[index]
    }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// The truth value, if this is one.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number as an `Int`, if this is one that fits.
    public var int: Int? { if case .number(let value) = self { value.value() } else { nil } }

    /// The number as the nearest `Double`, if this is one.
    public var double: Double? { if case .number(let value) = self { value.doubleValue } else { nil } }

    /// The string, if this is one.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The elements, if this is an array.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The named values, if this is an object.
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// The value without the names and elements that are null, at any depth; a null at the top stays.
    public func removingNullValues() -> JSONValue {
        switch self {
        case .array(let values):
            return .array(values.filter { !$0.isNull }.map { $0.removingNullValues() })
        case .object(let object):
            var kept = JSONObject()
            for entry in object where !entry.value.isNull { kept.set(entry.key, entry.value.removingNullValues()) }
            return .object(kept)
        default:
            return self
        }
    }
}
