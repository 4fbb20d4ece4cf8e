/// Inserts pairs with names such as `a[b][]` into a tree.
final class QueryTree {
    private let parser: QueryParser
    private let root = TreeNode()

    init(parser: QueryParser) { self.parser = parser }

    func value() throws(SerializationError) -> ParameterValue {
        if root.kind == .nothing { return .dictionary([]) }
        let value = try root.value(depth: 0)
        return parser.arrayStyle == .indices ? value.withIndexedArrays(isTop: true) : value
    }

    func insert(_ value: ParameterValue, at name: String) throws(SerializationError) {
        let path = QueryPath(name, nestingStyle: parser.nestingStyle).steps
        try NestingLimit.check(path.count)
        var node = root
        for (index, step) in path.enumerated() {
            switch (step, node.kind) {
            case (.name(let name), .nothing), (.name(let name), .dictionary): node = node.child(name)
            case (.element, .nothing), (.element, .array): node = element(of: node, rest: path[(index + 1)...])
            case (.element, .value) where parser.repetitionStyle == .combined:
                node.makeArray()
                node = element(of: node, rest: path[(index + 1)...])
            default: throw conflict(name)
            }
        }
        try set(value, in: node, name: name)
    }

    /// The element for the rest of a name: the last one, unless it has the name already.
    private func element(of node: TreeNode, rest: ArraySlice<QueryPath.Step>) -> TreeNode {
        if !rest.isEmpty, let last = node.lastChild, canTake(rest, last) { return last }
        return node.appendChild()
    }

    /// A nested array accepts any number of elements, so that a repeated name within it does not begin an outer
    /// element.
    private func canTake(_ rest: ArraySlice<QueryPath.Step>, _ node: TreeNode) -> Bool {
        var node = node
        for step in rest {
            switch (step, node.kind) {
            case (.name(let name), .dictionary):
                guard let child = node.existingChild(name) else { return true }
                node = child
            case (.element, .array), (_, .nothing): return true
            default: return false
            }
        }
        return false
    }

    private func set(_ value: ParameterValue, in node: TreeNode, name: String) throws(SerializationError) {
        switch (node.kind, parser.repetitionStyle.kind) {
        case (.nothing, _), (.value, .last): node.set(value)
        case (.value, .first): break
        case (.value, .collected): node.collect(value, asArray: parser.arrayStyle == .repeated)
        case (.value, .combined):
            node.makeArray()
            node.append(value)
        case (.array, .combined): node.append(value)
        default: throw conflict(name)
        }
    }

    private func conflict(_ name: String) -> SerializationError {
        SerializationError(
            code: .decodingFailed,
            message:
                "The name \(name.debugDescription) does not fit the names before it, as a value or as a collection."
        )
    }
}

/// The steps of a name in a form.
struct QueryPath {
    enum Step {
        case name(String)
        /// `[]`
        case element
    }

    private(set) var steps: [Step] = []

    /// A name with unbalanced brackets is a single step.
    init(_ name: String, nestingStyle: QueryEncoder.NestingStyle) {
        var rest = Substring(name).utf8
        let usesDots = nestingStyle == .dots
        func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "[") || usesDots && byte == UInt8(ascii: ".") }
        func takeName() -> Step {
            let end = rest.firstIndex(where: isEnd) ?? rest.endIndex
            defer { rest = rest[end...] }
            return .name(String(Substring(rest[..<end])))
        }
        steps = [takeName()]
        while let mark = rest.first {
            if mark == UInt8(ascii: "[") {
                guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { break }
                let inner = rest[..<end].dropFirst()
                steps.append(inner.isEmpty ? .element : .name(String(Substring(inner))))
                rest = rest[rest.index(after: end)...]
            } else if usesDots, mark == UInt8(ascii: ".") {
                rest = rest.dropFirst()
                steps.append(takeName())
            } else {
                break
            }
        }
        if !rest.isEmpty { steps = [.name(name)] }
    }
}

extension ParameterValue {
    /// Dictionaries with the names 0, 1, 2 and so on become arrays, except at the top level.
    fileprivate func withIndexedArrays(isTop: Bool = false) -> ParameterValue {
        switch self {
        case .array(let values): return .array(values.map { $0.withIndexedArrays() })
        case .dictionary(let entries):
            let converted = entries.map { Entry($0.key, $0.value.withIndexedArrays()) }
            return isTop ? .dictionary(converted) : Self.indexedArray(converted) ?? .dictionary(converted)
        default: return self
        }
    }

    private static func indexedArray(_ entries: [Entry]) -> ParameterValue? {
        var values = [ParameterValue?](repeating: nil, count: entries.count)
        for entry in entries {
            guard let index = Int(entry.key), String(index) == entry.key, values.indices.contains(index) else {
                return nil
            }
            values[index] = entry.value
        }
        return .array(values.compactMap { $0 })
    }
}
