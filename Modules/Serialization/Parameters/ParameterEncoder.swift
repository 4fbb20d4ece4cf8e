import FoundationEssentials

/// Makes parameters from any `Encodable` value.
///
/// Dates become ISO 8601 texts and data becomes Base64 when the parameters are written; `URL` and `Decimal` become their
/// texts. Names come in the order in which the value encodes them.
public struct ParameterEncoder: Sendable {
    /// Passed to the value's `encode(to:)`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates an encoder.
    public init() {}

    /// Returns the parameters.
    ///
    /// - Throws: ``SerializationError`` with ``SerializationError/Code/encodingFailed``; what the value threw underlies
    ///   it.
    public func encode(_ value: some Encodable) throws(SerializationError) -> Parameters {
        do {
            let encoder = TreeEncoder(codingPath: [], userInfo: userInfo)
            try encoder.encode(value)
            return Parameters(try encoder.node.value(depth: 0))
        } catch let error as SerializationError {
            throw error
        } catch {
            throw SerializationError(
                code: .encodingFailed,
                message: "\(type(of: value)) cannot be encoded: \(error)",
                underlying: error
            )
        }
    }
}

extension Parameters {
    /// Creates parameters from any `Encodable` value; see ``ParameterEncoder``.
    public init(encoding value: some Encodable) throws(SerializationError) {
        self = try ParameterEncoder().encode(value)
    }
}

/// A place in the tree that is being built; containers share it, since they may be written to in turns.
final class TreeNode {
    enum Content {
        case nothing
        case value(ParameterValue)
        case array([TreeNode])
        case dictionary([(key: String, node: TreeNode)], places: [String: Int])
    }

    var content = Content.nothing

    /// The node of a name, made if it is not there.
    func child(_ key: String) -> TreeNode {
        guard case .dictionary(var entries, var places) = content else {
            let node = TreeNode()
            content = .dictionary([(key, node)], places: [key: 0])
            return node
        }
        if let place = places[key] { return entries[place].node }
        content = .nothing
        let node = TreeNode()
        places[key] = entries.count
        entries.append((key, node))
        content = .dictionary(entries, places: places)
        return node
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
