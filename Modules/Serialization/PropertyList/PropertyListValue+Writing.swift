public import FoundationEssentials

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
