public import FoundationEssentials
internal import LinnetJSON

/// A value in a request's parameters.
///
/// Literals create values: `["name": "Ada", "tags": ["a", "b"], "active": true, "manager": .null]`. Names with a nil
/// value are omitted.
public enum ParameterValue: Sendable, Hashable {
    /// No value: a key without `=` in a query, `null` in JSON.
    case null
    /// A Boolean: `1` or `0` in a query.
    case bool(Bool)
    /// An integer.
    case integer(Int64)
    /// An integer above `Int64.max`.
    case unsigned(UInt64)
    /// A floating-point number.
    case double(Double)
    /// A decimal number with all its digits: a number in JSON, text in a property list.
    case decimal(Decimal)
    /// A text.
    case string(String)
    /// Bytes: Base64 in queries and JSON, raw in a multipart form.
    case data(Data)
    /// A date: ISO 8601 in UTC unless the serializer is configured otherwise.
    case date(Date)
    /// An array.
    case array([ParameterValue])
    /// A set: a query repeats the key. JSON has no sets, and refuses them.
    case set([ParameterValue])
    /// Values by name, in order. A query writes all values of a repeated name, JSON the last.
    case dictionary([Entry])

    /// A name and its value.
    public struct Entry: Sendable, Hashable {
        /// The name.
        public var key: String
        /// The value.
        public var value: ParameterValue

        /// Creates an entry.
        public init(_ key: String, _ value: ParameterValue) {
            self.key = key
            self.value = value
        }
    }

    /// Creates an integer; beyond 64 bits it becomes its decimal text.
    public init(_ value: some FixedWidthInteger) {
        if let integer = Int64(exactly: value) {
            self = .integer(integer)
        } else if let unsigned = UInt64(exactly: value) {
            self = .unsigned(unsigned)
        } else {
            self = .string(String(value))
        }
    }

    /// Creates a floating-point number.
    public init(_ value: Double) { self = .double(value) }

    /// Creates a decimal number.
    public init(_ value: Decimal) { self = .decimal(value) }

    /// Creates a text.
    public init(_ value: some StringProtocol) { self = .string(String(value)) }

    /// Creates a Boolean.
    public init(_ value: Bool) { self = .bool(value) }
}

extension ParameterValue {
    /// The value for a name, if this is a dictionary that has it; the last of several.
    ///
    /// Setting replaces the first value and removes the others, or appends a new one; setting nil removes all. A
    /// value that is not a dictionary becomes one.
    public subscript(key: String) -> ParameterValue? {
        get {
            guard case .dictionary(let entries) = self else { return nil }
            let key = NameBytes(key)
            return entries.last { NameBytes($0.key) == key }?.value
        }
        set {
            var entries: [Entry] = []
            if case .dictionary(let present) = self { entries = present }
            self = .null
            entries.set(key, newValue)
            self = .dictionary(entries)
        }
    }

    /// The value for a name, or `default` if there is none; changes are stored.
    public subscript(key: String, default value: @autoclosure () -> ParameterValue) -> ParameterValue {
        get { self[key] ?? value() }
        set { self[key] = newValue }
    }

    /// The element at an index, if this is an array or a set that has it. Setting has no effect on an index out of
    /// range.
    public subscript(index: Int) -> ParameterValue? {
        get {
            switch self {
            case .array(let values), .set(let values):
                guard values.indices.contains(index) else { return .none }
                return values[index]
            default: return .none
            }
        }
        set {
            // A literal nil is `.null` here, so that setting nil cannot mean removal.
            guard let newValue, case .some = self[index] else { return }
            replaceElements { $0[index] = newValue }
        }
    }

    /// Appends an element to an array or a set. Any other value becomes an array with this element.
    public mutating func append(_ value: ParameterValue) {
        replaceElements { $0.append(value) }
    }

    // Elements are changed in place only while they have a single reference. Among the ways to move them out of the
    // value, this is one for which the optimizer keeps no second reference; a `switch` would copy all elements for each
    // change.
    private mutating func replaceElements(_ change: (inout [ParameterValue]) -> Void) {
        if case .array(var values) = self {
            self = .null
            change(&values)
            self = .array(values)
        } else if case .set(var values) = self {
            self = .null
            change(&values)
            self = .set(values)
        } else {
            var values: [ParameterValue] = []
            change(&values)
            self = .array(values)
        }
    }
}

extension [ParameterValue.Entry] {
    fileprivate mutating func set(_ key: String, _ value: ParameterValue?) {
        let name = NameBytes(key)
        let place = firstIndex { NameBytes($0.key) == name }
        removeAll { NameBytes($0.key) == name }
        if let value { insert(Element(key, value), at: place ?? count) }
    }
}

extension ParameterValue: Encodable {
    /// Encodes the value as its Swift counterpart.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try value.encode(to: encoder)
        case .integer(let value): try value.encode(to: encoder)
        case .unsigned(let value): try value.encode(to: encoder)
        case .double(let value): try value.encode(to: encoder)
        case .decimal(let value):
            var container = encoder.singleValueContainer()
            try container.encode(value)
        case .string(let value): try value.encode(to: encoder)
        case .data(let value): try value.encode(to: encoder)
        case .date(let value): try value.encode(to: encoder)
        case .array(let values), .set(let values): try values.encode(to: encoder)
        case .dictionary(let entries):
            var container = encoder.container(keyedBy: TreeKey.self)
            for entry in entries { try container.encode(entry.value, forKey: TreeKey(entry.key)) }
        }
    }
}

extension RequestParameters: Encodable {
    /// Encodes the top-level value.
    public func encode(to encoder: any Encoder) throws { try root.encode(to: encoder) }
}

extension Double {
    /// The shortest text that gives the same number, without a fraction of zero: `2`, not `2.0`.
    var parameterText: String {
        let text = description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
