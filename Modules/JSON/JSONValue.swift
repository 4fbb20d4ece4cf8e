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
    /// An array.
    case array([JSONValue])
    /// An object, with its names in order.
    case object(JSONObject)

    /// Parses a UTF-8 text (RFC 8259), with or without a byte order mark. A repeated name has its last value, unless
    /// the options say otherwise.
    ///
    /// - Throws: ``JSONSyntaxError`` with the byte offset.
    public init(parsing data: Data, options: ParsingOptions = ParsingOptions()) throws(JSONSyntaxError) {
        let result = data.withUnsafeBytes { bytes in
            Result { () throws(JSONSyntaxError) in
                var parser = JSONParser(bytes: bytes, options: options)
                return try parser.parse()
            }
        }
        self = try result.get()
    }

    /// The value for a name, if this is an object that has it.
    public subscript(key: String) -> JSONValue? { object?[key] }

    /// The element at an index, if this is an array that has it.
    public subscript(index: Int) -> JSONValue? {
        guard case .array(let values) = self, values.indices.contains(index) else { return nil }
        return values[index]
    }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// The Boolean value, if this is one.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number as an `Int`, if this is a number that fits.
    public var int: Int? { if case .number(let value) = self { value.value() } else { nil } }

    /// The nearest `Double`, if this is a number.
    public var double: Double? { if case .number(let value) = self { value.doubleValue } else { nil } }

    /// The string, if this is one.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The elements, if this is an array.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }

    /// The object, if this is one.
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// The value without names and elements that are null, at any depth; a top-level null stays.
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

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Creates ``JSONValue/null``.
    public init(nilLiteral: ()) { self = .null }

    /// Creates ``JSONValue/bool(_:)``.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// Creates ``JSONValue/number(_:)``.
    public init(integerLiteral value: Int64) { self = .number(JSONNumber(value)) }

    /// Creates ``JSONValue/number(_:)``; null if the literal overflows `Double`.
    public init(floatLiteral value: Double) { self = JSONNumber(value).map(JSONValue.number) ?? .null }

    /// Creates ``JSONValue/string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Creates ``JSONValue/array(_:)``.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Creates ``JSONValue/object(_:)`` in the literal's order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (key, value) in elements { object.set(key, value) }
        self = .object(object)
    }
}

extension JSONValue: Codable {
    /// The depth of a decoded value, which protects the thread's stack where a decoder has no limit of its own.
    private static let maximumDepth = 512

    /// Decodes a value of any shape, such as a property whose shape is unknown.
    ///
    /// `JSONDecoder` passes numbers beyond 64 bits on as `Double` and loses the order of names;
    /// ``init(parsing:options:)`` keeps both. With ``JSONBodyDecoder``, the values that are decoded from one text take
    /// at most 512 MiB of memory together, as estimated by ``JSONValue/ParsingOptions/maximumMemory``.
    public init(from decoder: any Decoder) throws {
        try (decoder as? JSONTapeDecoder)?.spendOnTree()
        guard decoder.codingPath.count <= Self.maximumDepth else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: [], debugDescription: "The value is nested deeper than \(Self.maximumDepth) levels."))
        }
        if let container = try? decoder.container(keyedBy: TreeKey.self) {
            self = .object(try Self.object(in: container))
        } else if var container = try? decoder.unkeyedContainer() {
            var values: [JSONValue] = []
            while !container.isAtEnd { values.append(try container.decode(JSONValue.self)) }
            self = .array(values)
        } else {
            self = try Self.plainValue(in: try decoder.singleValueContainer())
        }
    }

    private static func object(in container: KeyedDecodingContainer<TreeKey>) throws -> JSONObject {
        var object = JSONObject()
        let keys = container.allKeys.sorted { $0.stringValue.utf8.lexicographicallyPrecedes($1.stringValue.utf8) }
        for key in keys { object.set(key.stringValue, try container.decode(JSONValue.self, forKey: key)) }
        return object
    }

    private static func plainValue(in container: any SingleValueDecodingContainer) throws -> JSONValue {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return .number(JSONNumber(value)) }
        if let value = try? container.decode(UInt64.self) { return .number(JSONNumber(value)) }
        if let value = try? container.decode(Double.self), let number = JSONNumber(value) { return .number(number) }
        return .string(try container.decode(String.self))
    }

    /// Encodes the value as its Swift counterpart.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let object):
            var container = encoder.container(keyedBy: TreeKey.self)
            for entry in object { try container.encode(entry.value, forKey: TreeKey(entry.key)) }
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        default:
            var container = encoder.singleValueContainer()
            try encodePlain(into: &container)
        }
    }

    private func encodePlain(into container: inout any SingleValueEncodingContainer) throws {
        switch self {
        case .bool(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .number(let number): try number.encodePlain(into: &container)
        default: try container.encodeNil()
        }
    }
}

extension JSONNumber {
    fileprivate func encodePlain(into container: inout any SingleValueEncodingContainer) throws {
        if let value = value(as: Int64.self), isInteger {
            try container.encode(value)
        } else if let value = value(as: UInt64.self), isInteger {
            try container.encode(value)
        } else if isInteger, let value = Decimal(string: text), value.description == text {
            try container.encode(value)
        } else {
            try container.encode(doubleValue)
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as UTF-8 text. Numbers keep the digits that they were parsed with.
    public func data(options: WritingOptions = WritingOptions()) -> Data {
        Data(bytes(options: options))
    }

    /// The value as a single line of text.
    public var description: String {
        String(decoding: bytes(options: WritingOptions()), as: UTF8.self)
    }

    private func bytes(options: WritingOptions) -> [UInt8] {
        var writer = JSONWriter(options: options)
        write(to: &writer)
        return writer.bytes
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .null: writer.write(word: "null")
        case .bool(let value): writer.write(word: value ? "true" : "false")
        case .number(let value): writer.write(number: value.text)
        case .string(let value): writer.write(value)
        case .array(let values):
            writer.open(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                writer.separate(isFirst: index == 0)
                value.write(to: &writer)
            }
            writer.close(UInt8(ascii: "]"), isEmpty: values.isEmpty)
        case .object(let object): write(object, to: &writer)
        }
    }

    private func write(_ object: JSONObject, to writer: inout JSONWriter) {
        writer.open(UInt8(ascii: "{"))
        let entries = Array(object)
        let ordered =
            writer.options.sortsKeys
            ? entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } : entries
        for (index, entry) in ordered.enumerated() {
            writer.separate(isFirst: index == 0)
            writer.write(entry.key)
            writer.writeColon()
            entry.value.write(to: &writer)
        }
        writer.close(UInt8(ascii: "}"), isEmpty: entries.isEmpty)
    }
}
