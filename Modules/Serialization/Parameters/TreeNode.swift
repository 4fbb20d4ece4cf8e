/// A place in a tree of parameters that is being built; containers share it, since they may be written to in turns.
final class TreeNode {
    enum Content {
        case nothing
        case value(ParameterValue)
        case array([TreeNode])
        case dictionary([(key: String, node: TreeNode)], places: [NameBytes: Int])
    }

    var content = Content.nothing

    /// The node of a name, if there is one.
    func existingChild(_ key: String) -> TreeNode? {
        guard case .dictionary(let entries, let places) = content else { return nil }
        return places[NameBytes(key)].map { entries[$0].node }
    }

    /// The node of a name, made if it is not there.
    func child(_ key: String) -> TreeNode {
        guard case .dictionary(var entries, var places) = content else {
            let node = TreeNode()
            content = .dictionary([(key, node)], places: [NameBytes(key): 0])
            return node
        }
        if let place = places[NameBytes(key)] { return entries[place].node }
        // Held once only, so that appending does not copy.
        content = .nothing
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
        let node = TreeNode()
        guard case .array(var nodes) = content else {
            content = .array([node])
            return node
        }
        content = .nothing
        nodes.append(node)
        content = .array(nodes)
        return node
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
