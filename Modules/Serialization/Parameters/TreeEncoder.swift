import FoundationEssentials

/// The `Encoder` behind ``ParameterEncoder``: it writes into one node of the tree.
struct TreeEncoder: Encoder {
    let settings: ParameterEncoder
    var codingPath: [any CodingKey] = []
    var node = TreeNode()
    /// Whether the names are a dictionary's, which no strategy changes.
    var keepsNames = false

    init(settings: ParameterEncoder) { self.settings = settings }

    var userInfo: [CodingUserInfoKey: Any] { settings.userInfo }

    /// The name that a property has in the parameters.
    func name(_ key: any CodingKey) -> String {
        keepsNames ? key.stringValue : settings.keyEncodingStrategy.name(key.stringValue)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .nothing = node.content { node.content = .dictionary([], places: [:]) }
        return KeyedEncodingContainer(TreeKeyedContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .nothing = node.content { node.content = .array([]) }
        return TreeUnkeyedContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { TreeSingleValueContainer(encoder: self) }

    /// The encoder of a place below this one.
    func nested(_ node: TreeNode, key: any CodingKey) -> TreeEncoder {
        var encoder = TreeEncoder(settings: settings)
        encoder.codingPath = codingPath + [key]
        encoder.node = node
        return encoder
    }

    func encode(_ value: some Encodable) throws {
        // A value can hold itself no deeper than this; the check comes before the next call, not after.
        try NestingLimit.check(codingPath.count)
        if let plain = try plainValue(value) {
            node.content = .value(plain)
        } else if value is any UnorderedNames {
            var encoder = self
            encoder.keepsNames = true
            try value.encode(to: encoder)
            node.sortNames()
        } else {
            try value.encode(to: self)
        }
    }

    /// The types that have a case of their own, whatever they would encode themselves as.
    private func plainValue(_ value: some Encodable) throws -> ParameterValue? {
        switch value {
        case let value as String: .string(value)
        case let value as Bool: .bool(value)
        case let value as any FixedWidthInteger: ParameterValue(value)
        case let value as Double: .double(value)
        // By way of the text, so that 0.1 stays 0.1.
        case let value as Float: .double(Double(value.description) ?? Double(value))
        case let value as Date: try settings.dateEncodingStrategy.value(of: value)
        case let value as Data: try settings.dataEncodingStrategy.value(of: value)
        case let value as URL: .string(value.absoluteString)
        case let value as Decimal: .decimal(value)
        case let value as Parameters: value.root
        case let value as ParameterValue: value
        default: nil
        }
    }
}

/// A dictionary, whose names come in another order each time the program runs.
private protocol UnorderedNames {}

extension Dictionary: UnorderedNames where Key == String {}
