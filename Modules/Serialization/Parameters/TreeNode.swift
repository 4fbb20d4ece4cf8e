/// A node of a tree of parameters under construction. Containers share it, since their writes may alternate.
final class TreeNode {
    enum Content {
        case nothing
        case value(ParameterValue)
        case array([TreeNode])
        case dictionary([(key: String, node: TreeNode)], places: [NameBytes: Int])
    }

    /// The case of the content, without a reference to it.
    enum Kind { case nothing, value, array, dictionary }

    var content = Content.nothing

    var kind: Kind {
        switch content {
        case .nothing: .nothing
        case .value: .value
        case .array: .array
        case .dictionary: .dictionary
        }
    }

    /// The child for a name, if there is one.
    func existingChild(_ key: String) -> TreeNode? {
        guard case .dictionary(let entries, let places) = content else { return nil }
        return places[NameBytes(key)].map { entries[$0].node }
    }

    /// The child for a name, created if it is missing.
    func child(_ key: String) -> TreeNode {
        if let node = existingChild(key) { return node }
        var (entries, places) = takeDictionary()
        let node = TreeNode()
        places[NameBytes(key)] = entries.count
        entries.append((key, node))
        content = .dictionary(entries, places: places)
        return node
    }

    /// The last element, if there is one.
    var lastChild: TreeNode? {
        if case .array(let nodes) = content { nodes.last } else { nil }
    }

    func appendChild() -> TreeNode {
        var nodes = takeArray()
        let node = TreeNode()
        nodes.append(node)
        content = .array(nodes)
        return node
    }

    /// Makes a set, or an array, of the plain value and another one.
    func collect(_ value: ParameterValue, asArray: Bool) {
        guard var present = takeValue() else { return }
        if present.isCollection(array: asArray) {
            present.append(value)
        } else {
            present = asArray ? .array([present, value]) : .set([present, value])
        }
        content = .value(present)
    }

    /// Makes the plain value the first element of an array.
    func makeArray() {
        guard let value = takeValue() else { return }
        content = .array([])
        append(value)
    }

    /// Appends an element, or the elements of a list.
    func append(_ value: ParameterValue) {
        guard case .array(let elements) = value else { return appendChild().content = .value(value) }
        for element in elements { appendChild().content = .value(element) }
    }

    // MARK: Moving the content out

    // These functions release the node's reference to the content, so that appending does not copy it.

    private func takeValue() -> ParameterValue? {
        guard case .value(let value) = content else { return nil }
        content = .nothing
        return value
    }

    private func takeArray() -> [TreeNode] {
        guard case .array(let nodes) = content else { return [] }
        content = .nothing
        return nodes
    }

    private func takeDictionary() -> ([(key: String, node: TreeNode)], [NameBytes: Int]) {
        guard case .dictionary(let entries, let places) = content else { return ([], [:]) }
        content = .nothing
        return (entries, places)
    }

    /// Sorts names by their bytes.
    func sortNames() {
        guard case .dictionary(let entries, _) = content else { return }
        let sorted = entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        var places: [NameBytes: Int] = [:]
        for (place, entry) in sorted.enumerated() { places[NameBytes(entry.key)] = place }
        content = .dictionary(sorted, places: places)
    }

    func value(depth: Int) throws(SerializationError) -> ParameterValue {
        try NestingLimit.check(depth)
        switch content {
        case .nothing: return .null
        case .value(let value): return value
        case .array(let nodes):
            var values: [ParameterValue] = []
            values.reserveCapacity(nodes.count)
            for node in nodes { values.append(try node.value(depth: depth + 1)) }
            return .array(values)
        case .dictionary(let children, _):
            var entries: [ParameterValue.Entry] = []
            entries.reserveCapacity(children.count)
            for child in children {
                entries.append(ParameterValue.Entry(child.key, try child.node.value(depth: depth + 1)))
            }
            return .dictionary(entries)
        }
    }
}

extension ParameterValue {
    fileprivate func isCollection(array: Bool) -> Bool {
        switch self {
        case .array: array
        case .set: !array
        default: false
        }
    }
}
