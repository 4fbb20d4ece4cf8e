public import FoundationEssentials

/// One value of a request's parameters.
///
/// Literals make them: `["name": "Ada", "tags": ["a", "b"], "active": true, "manager": nil]`.
public enum ParameterValue: Sendable, Hashable {
    /// No value: a bare key in a query, `null` in JSON.
    case null
    /// A truth value: `1` or `0` in a query.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number above `Int64.max`.
    case unsigned(UInt64)
    /// A floating-point number.
    case double(Double)
    /// A decimal number, written with all its digits: a number in JSON, its text in a property list.
    case decimal(Decimal)
    /// A text.
    case string(String)
    /// Bytes: Base64 in queries and JSON, as they are in a multipart form.
    case data(Data)
    /// A moment: ISO 8601 in UTC unless the serializer is told otherwise.
    case date(Date)
    /// Values in order.
    case array([ParameterValue])
    /// Values without order: a query repeats the plain key. JSON has no sets and refuses them.
    case set([ParameterValue])
    /// Named values in order. If a name occurs twice, a query has both and JSON the last.
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

    /// A whole number; one that is wider than 64 bits becomes its decimal text.
    public init(_ value: some FixedWidthInteger) {
        if let integer = Int64(exactly: value) {
            self = .integer(integer)
        } else if let unsigned = UInt64(exactly: value) {
            self = .unsigned(unsigned)
        } else {
            self = .string(String(value))
        }
    }

    /// A floating-point number.
    public init(_ value: Double) { self = .double(value) }

    /// A decimal number.
    public init(_ value: Decimal) { self = .decimal(value) }

    /// A text.
    public init(_ value: some StringProtocol) { self = .string(String(value)) }

    /// A truth value.
    public init(_ value: Bool) { self = .bool(value) }
}

extension ParameterValue {
    /// The value of a name, if this is a dictionary that has it: the last if there are several.
    ///
    /// Setting replaces the first in its place and removes the others, appends if there was none, and with nil removes.
    /// What was no dictionary becomes one.
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

    /// The value of a name, and `default` if there is none; what is changed in it is set.
    public subscript(key: String, default value: @autoclosure () -> ParameterValue) -> ParameterValue {
        get { self[key] ?? value() }
        set { self[key] = newValue }
    }

    /// The element at an index, if this is an array or a set that has it. Setting an index that is not there does
    /// nothing.
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
            // A `nil` beside values is null, since null is written so.
            guard let newValue, case .some = self[index] else { return }
            replaceElements { $0[index] = newValue }
        }
    }

    /// Adds an element at the end of an array or a set; what was neither becomes an array of this one.
    public mutating func append(_ value: ParameterValue) {
        replaceElements { $0.append(value) }
    }

    private mutating func replaceElements(_ change: (inout [ParameterValue]) -> Void) {
        let isSet = isSet
        var values = takeElements()
        change(&values)
        self = isSet ? .set(values) : .array(values)
    }

    private var isSet: Bool { if case .set = self { true } else { false } }

    /// Moves the elements out; there are none in what is neither an array nor a set. A function of its own, so that no
    /// second reference is left when they are changed, which would copy them all.
    private mutating func takeElements() -> [ParameterValue] {
        switch self {
        case .array(let values), .set(let values):
            self = .null
            return values
        default: return []
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
    /// Encodes the value as its plain Swift counterpart.
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

extension Parameters: Encodable {
    /// Encodes the value at the top.
    public func encode(to encoder: any Encoder) throws { try root.encode(to: encoder) }
}

extension Double {
    /// The shortest text that reads back as the same number, without the fraction of a whole one: `2`, not `2.0`.
    var parameterText: String {
        let text = description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension Date {
    /// Reads ISO 8601 with a time zone, with or without a fraction of a second.
    init?(parameterText text: String) {
        guard let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text) else { return nil }
        // The nearest number to what is written, which the parser's sums may miss.
        self = Date(timeIntervalSinceReferenceDate: (date.timeIntervalSinceReferenceDate * 1e6).rounded() / 1e6)
    }

    /// ISO 8601 in UTC; with milliseconds if there are any.
    var parameterText: String {
        let milliseconds = (timeIntervalSinceReferenceDate * 1000).rounded()
        let isWhole = milliseconds.truncatingRemainder(dividingBy: 1000) == 0
        let rounded = Date(timeIntervalSinceReferenceDate: milliseconds / 1000)
        return rounded.formatted(isWhole ? .iso8601 : Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
