import FoundationEssentials

extension PropertyListValue {
    /// Converts parameters.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/invalidParameters`` for null, sets and
    ///   canonically equivalent names (`é` in its two forms), which property lists do not have; with
    ///   ``SerializationError/Code/nestedTooDeep`` beyond 512 levels.
    package init(_ value: ParameterValue) throws(SerializationError) { try self.init(value, depth: 0) }

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
                        message:
                            "Two names are canonically equivalent to \(entry.key.debugDescription); use one of them."
                    )
                }
            }
            self = .dictionary(named)
        }
    }

    private static func missing(_ what: String) -> SerializationError {
        SerializationError(
            code: .invalidParameters,
            message: "Property lists have no \(what); omit the value, or use another type."
        )
    }
}
