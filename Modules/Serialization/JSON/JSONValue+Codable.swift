import FoundationEssentials

extension JSONValue: Codable {
    /// Reads a value of any shape, as a part of a type whose shape is known only in part.
    ///
    /// A `JSONDecoder` gives numbers beyond 64 bits by their nearest `Double`, and names in an order of its
    /// own; ``init(parsing:options:)`` keeps both as they are.
    public init(from decoder: any Decoder) throws {
        try NestingLimit.check(decoder.codingPath.count)
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

    /// Writes the value as its plain Swift counterpart.
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
