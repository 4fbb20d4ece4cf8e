internal import LinnetJSON

/// A node of a tree of parameters under construction. Containers share it, since their writes may alternate.
///
/// Children and collected values are properties of their own, not payloads of an enumeration: the optimizer keeps a
/// second reference to a payload that is moved out and back, so that each change would copy all of it.
final class TreeNode {
    enum Kind { case nothing, value, array, dictionary }

    private(set) var kind = Kind.nothing
    /// The value, unless several were collected.
    private var plain = ParameterValue.null
    /// The values of a collection, and whether it is an array instead of a set.
    private var collected: [ParameterValue] = []
    private var collectsArray = false
    /// The elements of an array, or the members of a dictionary.
    private var nodes: [TreeNode] = []
    private var keys: [String] = []
    private var places: [NameBytes: Int] = [:]

    /// Makes this a plain value, whatever it was.
    func set(_ value: ParameterValue) {
        clear()
        kind = .value
        plain = value
    }

    /// Makes this an array, if it is nothing yet.
    func beginArray() {
        if kind == .nothing { kind = .array }
    }

    /// Makes this a dictionary, if it is nothing yet.
    func beginDictionary() {
        if kind == .nothing { kind = .dictionary }
    }

    private func clear() {
        plain = .null
        collected = []
        nodes = []
        keys = []
        places = [:]
    }

    /// The number of elements or members.
    var count: Int { nodes.count }

    /// The child for a name, if there is one.
    func existingChild(_ key: String) -> TreeNode? { places[NameBytes(key)].map { nodes[$0] } }

    /// The child for a name, created if it is missing. Makes this a dictionary.
    func child(_ key: String) -> TreeNode {
        if let node = existingChild(key) { return node }
        if kind != .dictionary {
            clear()
            kind = .dictionary
        }
        let node = TreeNode()
        places[NameBytes(key)] = nodes.count
        keys.append(key)
        nodes.append(node)
        return node
    }

    /// The last element, if there is one.
    var lastChild: TreeNode? { kind == .array ? nodes.last : nil }

    /// Appends an element. Makes this an array.
    func appendChild() -> TreeNode {
        if kind != .array {
            clear()
            kind = .array
        }
        let node = TreeNode()
        nodes.append(node)
        return node
    }

    /// Makes a set, or an array, of the plain value and another one.
    func collect(_ value: ParameterValue, asArray: Bool) {
        guard kind == .value else { return }
        if collected.isEmpty {
            collected = plain.elements(ofArray: asArray) ?? [plain]
            collectsArray = asArray
            plain = .null
        }
        collected.append(value)
    }

    /// Makes the plain value the first element of an array.
    func makeArray() {
        guard kind == .value else { return }
        let value = plainValue
        clear()
        kind = .array
        append(value)
    }

    /// Appends an element, or the elements of a list.
    func append(_ value: ParameterValue) {
        guard case .array(let elements) = value else { return appendChild().set(value) }
        for element in elements { appendChild().set(element) }
    }

    private var plainValue: ParameterValue {
        if collected.isEmpty { return plain }
        return collectsArray ? .array(collected) : .set(collected)
    }

    /// Sorts names by their bytes.
    func sortNames() {
        guard kind == .dictionary else { return }
        let sorted = zip(keys, nodes).sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
        keys = sorted.map(\.0)
        nodes = sorted.map(\.1)
        for (place, key) in keys.enumerated() { places[NameBytes(key)] = place }
    }

    func value(depth: Int) throws(SerializationError) -> ParameterValue {
        try NestingLimit.check(depth)
        switch kind {
        case .nothing: return .null
        case .value: return plainValue
        case .array:
            var values: [ParameterValue] = []
            values.reserveCapacity(nodes.count)
            for node in nodes { values.append(try node.value(depth: depth + 1)) }
            return .array(values)
        case .dictionary:
            var entries: [ParameterValue.Entry] = []
            entries.reserveCapacity(nodes.count)
            for (key, node) in zip(keys, nodes) {
                entries.append(ParameterValue.Entry(key, try node.value(depth: depth + 1)))
            }
            return .dictionary(entries)
        }
    }
}

extension ParameterValue {
    /// The elements of an array, or else of a set; nil for other values.
    fileprivate func elements(ofArray isArray: Bool) -> [ParameterValue]? {
        switch self {
        case .array(let values): isArray ? values : nil
        case .set(let values): isArray ? nil : values
        default: nil
        }
    }
}
