/// A place in a tree of parameters that is being built; containers share it, since they may be written to in turns.
final class TreeNode {
    enum Content {
        case nothing
        case value(ParameterValue)
        case array([TreeNode])
        case dictionary([(key: String, node: TreeNode)], places: [NameBytes: Int])
    }

    /// Which case the content is, without a reference to what is in it.
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

    /// The node of a name, if there is one.
    func existingChild(_ key: String) -> TreeNode? {
        guard case .dictionary(let entries, let places) = content else { return nil }
        return places[NameBytes(key)].map { entries[$0].node }
    }

    /// The node of a name, made if it is not there.
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

    /// Makes a set, or an array, of the plain value and one more.
    func collect(_ value: ParameterValue, asArray: Bool) {
        guard var present = takeValue() else { return }
        if present.isCollection(array: asArray) {
            present.append(value)
        } else {
            present = asArray ? .array([present, value]) : .set([present, value])
        }
        content = .value(present)
    }

    /// Makes elements of an array of the plain value.
    func makeArray() {
        guard let value = takeValue() else { return }
        content = .array([])
        append(value)
    }

    /// Adds an element to an array, or those of a list.
    func append(_ value: ParameterValue) {
        guard case .array(let elements) = value else { return appendChild().content = .value(value) }
        for element in elements { appendChild().content = .value(element) }
    }

    // MARK: Moving the content out

    // Functions of their own, so that no second reference is left when the content is appended to, which would copy it.

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

    /// Puts names in the order of their bytes.
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
