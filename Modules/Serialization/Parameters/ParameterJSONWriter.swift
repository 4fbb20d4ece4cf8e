import FoundationEssentials
internal import LinnetJSON

/// Writes parameters as JSON.
struct ParameterJSONWriter {
    private var writer: JSONWriter

    static func write(_ value: ParameterValue, options: JSONValue.WritingOptions) throws(SerializationError) -> [UInt8]
    {
        var writer = ParameterJSONWriter(writer: JSONWriter(options: options))
        try writer.write(value, depth: 0)
        return writer.writer.bytes
    }

    private mutating func write(_ value: ParameterValue, depth: Int) throws(SerializationError) {
        try NestingLimit.check(depth)
        switch value {
        case .null: writer.write(word: "null")
        case .bool(let value): writer.write(word: value ? "true" : "false")
        case .integer(let value): writer.write(number: String(value))
        case .unsigned(let value): writer.write(number: String(value))
        case .double(let value): try write(value)
        case .decimal(let value): try write(value)
        case .string(let value): writer.write(value)
        case .data(let value): writer.write(value.base64EncodedString())
        case .date(let value): writer.write(value.iso8601Text)
        case .array(let values): try write(values, depth: depth)
        case .set:
            throw SerializationError(code: .invalidParameters, message: "JSON has no sets; pass an array.")
        case .dictionary(let entries): try write(entries, depth: depth)
        }
    }

    private mutating func write(_ value: Double) throws(SerializationError) {
        guard value.isFinite else {
            throw SerializationError(code: .encodingFailed, message: "JSON has no number for \(value).")
        }
        writer.write(number: value.parameterText)
    }

    private mutating func write(_ value: Decimal) throws(SerializationError) {
        guard value.isFinite else {
            throw SerializationError(code: .encodingFailed, message: "JSON has no number for \(value).")
        }
        writer.write(number: value.description)
    }

    private mutating func write(_ values: [ParameterValue], depth: Int) throws(SerializationError) {
        writer.open(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            writer.separate(isFirst: index == 0)
            try write(value, depth: depth + 1)
        }
        writer.close(UInt8(ascii: "]"), isEmpty: values.isEmpty)
    }

    private mutating func write(_ entries: [ParameterValue.Entry], depth: Int) throws(SerializationError) {
        writer.open(UInt8(ascii: "{"))
        let entries = withoutRepeats(entries)
        for (index, entry) in entries.enumerated() {
            writer.separate(isFirst: index == 0)
            writer.write(entry.key)
            writer.writeColon()
            try write(entry.value, depth: depth + 1)
        }
        writer.close(UInt8(ascii: "}"), isEmpty: entries.isEmpty)
    }

    /// Each name once, at the place of its first value and with its last; sorted if the options say so.
    private func withoutRepeats(_ entries: [ParameterValue.Entry]) -> [ParameterValue.Entry] {
        var places: [NameBytes: Int] = [:]
        places.reserveCapacity(entries.count)
        var kept: [ParameterValue.Entry] = []
        kept.reserveCapacity(entries.count)
        for entry in entries {
            if let place = places[NameBytes(entry.key)] {
                kept[place] = entry
            } else {
                places[NameBytes(entry.key)] = kept.count
                kept.append(entry)
            }
        }
        guard writer.options.sortsKeys else { return kept }
        return NameOrder.sorted(kept) { $0.key }
    }
}
