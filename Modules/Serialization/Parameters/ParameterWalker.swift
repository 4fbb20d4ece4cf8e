/// Receives the plain values of a flattened tree, each with its whole name.
protocol ParameterSink {
    /// Whether names are percent-encoded while walking: once per name instead of once per value.
    static var escapesNames: Bool { get }
    var spaceStyle: QueryEncoder.SpaceStyle { get }
    mutating func take(name: [UInt8], value: ParameterValue)
    mutating func take(name: [UInt8], list: [ParameterValue])
    /// Receives a name without a value, whatever the style of null.
    mutating func takeBare(name: [UInt8])
}

/// Flattens a tree of parameters by the rules of a query encoder, in time linear in the output.
struct ParameterWalker<Sink: ParameterSink> {
    let encoder: QueryEncoder
    var sink: Sink
    private var name: [UInt8] = []
    /// The number of names and of arrays around the current value.
    private var (names, arrays) = (0, 0)
    /// The arrays of collections in brackets around the current value.
    private var boundaries: [ElementBoundary] = []

    init(encoder: QueryEncoder, sink: Sink) {
        self.encoder = encoder
        self.sink = sink
    }

    mutating func walk(_ parameters: RequestParameters) throws(SerializationError) {
        if parameters.isEmpty { return }
        guard case .dictionary(let entries) = parameters.root else {
            throw SerializationError(
                code: .invalidParameters,
                message: "A query or a form needs names: its parameters must be a dictionary."
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
        default:
            try checkBoundaries()
            sink.take(name: name, value: value)
        }
    }

    private mutating func walk(_ entries: [ParameterValue.Entry], depth: Int) throws(SerializationError) {
        try NestingLimit.check(depth)
        if entries.isEmpty { return try takeEmpty(isNamed: depth > 0) }
        let length = name.count
        names += 1
        defer { names -= 1 }
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
            try takeEmpty(isNamed: true)
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
            try walk(elements: array, depth: depth + 1)
            name.removeSubrange(length...)
        case .indices:
            for (index, value) in array.enumerated() {
                appendBracketed(String(index))
                try walk(value, depth: depth + 1)
                name.removeSubrange(length...)
            }
        }
    }

    private mutating func walk(elements: [ParameterValue], depth: Int) throws(SerializationError) {
        arrays += 1
        defer { arrays -= 1 }
        guard elements.contains(where: \.isCollection) else {
            for value in elements { try walk(value, depth: depth) }
            return
        }
        let place = boundaries.count
        boundaries.append(ElementBoundary(start: name.count, names: names, arrays: arrays))
        defer { boundaries.removeLast() }
        for value in elements {
            boundaries[place].begin()
            try walk(value, depth: depth)
        }
    }

    /// Throws if a parser would assign the next value to another element.
    private mutating func checkBoundaries() throws(SerializationError) {
        for index in boundaries.indices {
            let (start, isNamed) = (boundaries[index].start, names > boundaries[index].names)
            let isListed = arrays > boundaries[index].arrays
            guard boundaries[index].take(name[start...], isNamed: isNamed, isListed: isListed) else {
                throw SerializationError(
                    code: .invalidParameters,
                    message: """
                        In the style a[][b]=1, a server cannot tell apart the elements of \
                        \(String(decoding: name[..<start], as: UTF8.self)): each has to begin with a name that the one \
                        before has, and to have it once. Use the array style .indices.
                        """
                )
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

    /// Writes an empty collection under the current name; the parameters themselves have none.
    private mutating func takeEmpty(isNamed: Bool) throws(SerializationError) {
        guard isNamed, encoder.emptyCollectionStyle != .dropped else { return }
        try checkBoundaries()
        switch encoder.emptyCollectionStyle.kind {
        case .dropped: break
        case .bareKey: sink.takeBare(name: name)
        case .emptyValue: sink.take(name: name, value: "")
        }
    }

    private mutating func walk(set: [ParameterValue], depth: Int) throws(SerializationError) {
        try NestingLimit.check(depth)
        if set.isEmpty { return try takeEmpty(isNamed: true) }
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

extension ParameterValue {
    fileprivate var isCollection: Bool {
        switch self {
        case .array, .set, .dictionary: true
        default: false
        }
    }
}

/// Checks that a parser can separate the elements of an array in the style `a[][b]=1`, in which only a repeated name
/// begins a new element (Rack, ``QueryParser``).
struct ElementBoundary {
    /// The start of a name's part within the element.
    let start: Int
    /// The number of names and of arrays around the array.
    let (names, arrays): (Int, Int)

    /// The names in the element, except those within nested arrays.
    private var current: Set<[UInt8]> = []
    /// The names in the previous element.
    private var before: Set<[UInt8]> = []
    private var (isFirst, hasValue) = (true, false)
    /// Whether the element is a dictionary, and whether the previous one is.
    private var (isNamed, wasNamed) = (false, false)

    init(start: Int, names: Int, arrays: Int) {
        self.start = start
        (self.names, self.arrays) = (names, arrays)
    }

    /// Begins an element. An empty previous element is ignored.
    mutating func begin() {
        guard hasValue else { return }
        (before, wasNamed) = (current, isNamed)
        (current, isNamed) = ([], false)
        (isFirst, hasValue) = (false, false)
    }

    /// Takes the name of the next value; returns whether a parser assigns the value to this element.
    ///
    /// - Parameters:
    ///   - name: The part of the name within the element.
    ///   - isNamed: Whether the part has a dictionary key. Plain values begin elements; the structure of nested
    ///     arrays is lost.
    ///   - isListed: Whether the value is in an array within the element, in which case it never begins an element.
    mutating func take(_ name: ArraySlice<UInt8>, isNamed: Bool, isListed: Bool) -> Bool {
        let begins = !hasValue
        hasValue = true
        guard isNamed else { return true }
        self.isNamed = true
        let mayBegin = isFirst || !wasNamed
        guard !isListed else { return !begins || mayBegin }
        let name = Array(name)
        let isNew = current.insert(name).inserted
        return begins ? mayBegin || before.contains(name) : isNew
    }
}
