import FoundationEssentials

/// The `Encoder` behind ``ParameterEncoder``: it writes into one node of the tree.
struct TreeEncoder: Encoder {
    let codingPath: [any CodingKey]
    let parameterUserInfo: [CodingUserInfoKey: any Sendable]
    let node: TreeNode

    init(codingPath: [any CodingKey], userInfo: [CodingUserInfoKey: any Sendable], node: TreeNode = TreeNode()) {
        self.codingPath = codingPath
        parameterUserInfo = userInfo
        self.node = node
    }

    var userInfo: [CodingUserInfoKey: Any] { parameterUserInfo }

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
        TreeEncoder(codingPath: codingPath + [key], userInfo: parameterUserInfo, node: node)
    }

    func encode(_ value: some Encodable) throws {
        // A value can hold itself no deeper than this; the check comes before the next call, not after.
        try NestingLimit.check(codingPath.count)
        if let plain = plainValue(value) {
            node.content = .value(plain)
        } else {
            try value.encode(to: self)
        }
    }

    /// The types that have a case of their own, whatever they would encode themselves as.
    private func plainValue(_ value: some Encodable) -> ParameterValue? {
        switch value {
        case let value as String: .string(value)
        case let value as Bool: .bool(value)
        case let value as any FixedWidthInteger: ParameterValue(value)
        case let value as Double: .double(value)
        // By way of the text, so that 0.1 stays 0.1.
        case let value as Float: .double(Double(value.description) ?? Double(value))
        case let value as Date: .date(value)
        case let value as Data: .data(value)
        case let value as URL: .string(value.absoluteString)
        case let value as Decimal: .string(value.description)
        case let value as Parameters: value.root
        case let value as ParameterValue: value
        default: nil
        }
    }
}

extension ParameterValue: Encodable {
    /// Encodes the value as its plain Swift counterpart.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try value.encode(to: encoder)
        case .integer(let value): try value.encode(to: encoder)
        case .unsigned(let value): try value.encode(to: encoder)
        case .double(let value): try value.encode(to: encoder)
        case .string(let value): try value.encode(to: encoder)
        case .data(let value): try value.encode(to: encoder)
        case .date(let value): try value.encode(to: encoder)
        case .array(let values), .set(let values): try values.encode(to: encoder)
        case .dictionary(let entries):
            var container = encoder.container(keyedBy: TreeKey.self)
            for entry in entries { try container.encode(entry.value, forKey: TreeKey(entry.key)) }
        }
    }
}

extension Parameters: Encodable {
    /// Encodes the value at the top.
    public func encode(to encoder: any Encoder) throws { try root.encode(to: encoder) }
}

/// A name or an index on the way down.
struct TreeKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init?(stringValue: String) { self.init(stringValue) }

    init?(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }

    init(index: Int) {
        stringValue = "[\(index)]"
        intValue = index
    }

    static let superclass = TreeKey("super")
}
