import FoundationEssentials

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
