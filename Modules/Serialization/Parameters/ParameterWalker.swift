/// Takes the named plain values that a tree is flattened to, with their whole names.
protocol ParameterSink {
    /// Whether names are to be percent-encoded on the way down, once per name and not once per value.
    static var escapesNames: Bool { get }
    var spaceStyle: QueryEncoder.SpaceStyle { get }
    mutating func take(name: [UInt8], value: ParameterValue)
    mutating func take(name: [UInt8], list: [ParameterValue])
    /// Takes a name without a value, whatever the style of null is.
    mutating func takeBare(name: [UInt8])
}

/// Walks a tree of parameters and flattens it by a query encoder's rules, in time linear to what is written.
struct ParameterWalker<Sink: ParameterSink> {
    let encoder: QueryEncoder
    var sink: Sink
    private var name: [UInt8] = []

    init(encoder: QueryEncoder, sink: Sink) {
        self.encoder = encoder
        self.sink = sink
    }

    mutating func walk(_ parameters: Parameters) throws(SerializationError) {
        if parameters.isEmpty { return }
        guard case .dictionary(let entries) = parameters.root else {
            throw SerializationError(
                code: .invalidParameters,
                message: "A query or form needs names, so its parameters must be a dictionary at the top."
            )
        }
        try walk(entries, depth: 0)
    }

    private mutating func walk(_ value: ParameterValue, depth: Int) throws(SerializationError) {
        switch value {
        case .dictionary(let entries): try walk(entries, depth: depth)
        case .array(let values): try walk(array: values, depth: depth)
        case .set(let values): try walk(set: values, depth: depth)
        case .null where encoder.nullStyle == .dropped: break
        default: sink.take(name: name, value: value)
        }
    }

    private mutating func walk(_ entries: [ParameterValue.Entry], depth: Int) throws(SerializationError) {
        try NestingLimit.check(depth)
        if entries.isEmpty { return takeEmpty(isNamed: depth > 0) }
        let length = name.count
        for entry in ordered(entries) {
            appendName(entry.key, isNested: depth > 0)
            try walk(entry.value, depth: depth + 1)
            name.removeSubrange(length...)
        }
    }

    private mutating func walk(array: [ParameterValue], depth: Int) throws(SerializationError) {
        try NestingLimit.check(depth)
        let length = name.count
        if array.isEmpty {
            if encoder.arrayStyle == .brackets || encoder.arrayStyle == .indices { appendBracketed("") }
            takeEmpty(isNamed: true)
            name.removeSubrange(length...)
            return
        }
        switch encoder.arrayStyle.kind {
        case .commaSeparated:
            try walk(list: array)
        case .repeated:
            for value in array { try walk(value, depth: depth + 1) }
        case .brackets:
            appendBracketed("")
            for value in array { try walk(value, depth: depth + 1) }
            name.removeSubrange(length...)
        case .indices:
            for (index, value) in array.enumerated() {
                appendBracketed(String(index))
                try walk(value, depth: depth + 1)
                name.removeSubrange(length...)
            }
        }
    }

    private mutating func walk(list: [ParameterValue]) throws(SerializationError) {
        for value in list {
            switch value {
            case .array, .set, .dictionary:
                throw SerializationError(
                    code: .invalidParameters,
                    message: "A comma-separated list can hold plain values only."
                )
            default: break
            }
        }
        let values = encoder.nullStyle == .dropped ? list.filter { $0 != .null } : list
        if !values.isEmpty { sink.take(name: name, list: values) }
    }

    /// Writes what has nothing in it under the current name; the parameters themselves have none.
    private mutating func takeEmpty(isNamed: Bool) {
        guard isNamed else { return }
        switch encoder.emptyCollectionStyle.kind {
        case .dropped: break
        case .bareKey: sink.takeBare(name: name)
        case .emptyValue: sink.take(name: name, value: "")
        }
    }

    private mutating func walk(set: [ParameterValue], depth: Int) throws(SerializationError) {
        try NestingLimit.check(depth)
        if set.isEmpty { return takeEmpty(isNamed: true) }
        let members = set.map { (text: encoder.text(of: $0), value: $0) }
        let ordered = encoder.sortsKeys ? NameOrder.sorted(members) { $0.text } : members
        for member in ordered { try walk(member.value, depth: depth + 1) }
    }

    private func ordered(_ entries: [ParameterValue.Entry]) -> [ParameterValue.Entry] {
        encoder.sortsKeys ? NameOrder.sorted(entries) { $0.key } : entries
    }

    private mutating func appendName(_ text: String, isNested: Bool) {
        if !isNested {
            append(text)
        } else if encoder.nestingStyle == .dots {
            name.append(UInt8(ascii: "."))
            append(text)
        } else {
            appendBracketed(text)
        }
    }

    private mutating func appendBracketed(_ text: String) {
        name.append(contentsOf: Sink.escapesNames ? [0x25, 0x35, 0x42] : [0x5B])
        append(text)
        name.append(contentsOf: Sink.escapesNames ? [0x25, 0x35, 0x44] : [0x5D])
    }

    private mutating func append(_ text: String) {
        if Sink.escapesNames {
            name.appendPercentEncoded(text, spaceStyle: sink.spaceStyle)
        } else {
            name.append(contentsOf: text.utf8)
        }
    }
}
