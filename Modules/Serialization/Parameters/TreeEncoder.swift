import FoundationEssentials
internal import LinnetJSON

/// The `Encoder` behind ``ParameterEncoder``, which writes into one node of a tree.
struct TreeEncoder: Encoder {
    let settings: ParameterEncoder
    var codingPath: [any CodingKey] = []
    var node = TreeNode()
    /// Whether the names are a dictionary's keys, which no strategy changes.
    var keepsNames = false

    init(settings: ParameterEncoder) { self.settings = settings }

    var userInfo: [CodingUserInfoKey: Any] { settings.userInfo }

    /// The name of a property in the parameters.
    func name(_ key: any CodingKey) -> String {
        keepsNames ? key.stringValue : settings.keyEncodingStrategy.name(key.stringValue)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.beginDictionary()
        return KeyedEncodingContainer(TreeKeyedContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.beginArray()
        return TreeUnkeyedContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { TreeSingleValueContainer(encoder: self) }

    /// The encoder for a child node.
    func nested(_ node: TreeNode, key: any CodingKey) -> TreeEncoder {
        var encoder = TreeEncoder(settings: settings)
        encoder.codingPath = codingPath + [key]
        encoder.node = node
        return encoder
    }

    func encode(_ value: some Encodable) throws {
        // Checked before the recursive call, which a value that contains itself would repeat forever.
        try NestingLimit.check(codingPath.count)
        if let plain = try plainValue(value) {
            node.set(plain)
        } else if value is any UnorderedNames {
            var encoder = self
            encoder.keepsNames = true
            try value.encode(to: encoder)
            node.sortNames()
        } else {
            try value.encode(to: self)
        }
    }

    /// The types with a case of their own, regardless of how they encode themselves.
    private func plainValue(_ value: some Encodable) throws -> ParameterValue? {
        switch value {
        case let value as String: .string(value)
        case let value as Bool: .bool(value)
        case let value as any FixedWidthInteger: ParameterValue(value)
        case let value as Double: .double(value)
        // Converted through text, so that 0.1 stays 0.1.
        case let value as Float: .double(Double(value.description) ?? Double(value))
        case let value as Date: try settings.dateEncodingStrategy.value(of: value)
        case let value as Data: try settings.dataEncodingStrategy.value(of: value)
        case let value as URL: .string(value.absoluteString)
        case let value as Decimal: .decimal(value)
        case let value as RequestParameters: value.root
        case let value as ParameterValue: value
        default: nil
        }
    }
}

/// A dictionary, whose order differs in each run of the program.
private protocol UnorderedNames {}

extension Dictionary: UnorderedNames where Key == String {}

struct TreeKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: TreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func child(_ key: any CodingKey) -> TreeEncoder {
        encoder.nested(encoder.node.child(encoder.name(key)), key: key)
    }

    mutating func encodeNil(forKey key: Key) { child(key).node.set(.null) }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws { try child(key).encode(value) }

    private func encode(optional value: (some Encodable)?, _ key: Key) throws {
        if let value {
            try child(key).encode(value)
        } else if encoder.settings.encodesNilAsNull {
            child(key).node.set(.null)
        }
    }

    // The protocol has a default for each type, which a generic function does not replace.
    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: Int128?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: UInt128?, forKey key: Key) throws { try encode(optional: value, key) }
    mutating func encodeIfPresent(_ value: (some Encodable)?, forKey key: Key) throws {
        try encode(optional: value, key)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        child(key).container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        child(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { child(TreeKey.superclass) }

    mutating func superEncoder(forKey key: Key) -> any Encoder { child(key) }
}

struct TreeUnkeyedContainer: UnkeyedEncodingContainer {
    let encoder: TreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    private(set) var count = 0

    init(encoder: TreeEncoder) {
        self.encoder = encoder
        if encoder.node.kind == .array { count = encoder.node.count }
    }

    private mutating func child() -> TreeEncoder {
        defer { count += 1 }
        return encoder.nested(encoder.node.appendChild(), key: TreeKey(index: count))
    }

    mutating func encodeNil() { child().node.set(.null) }

    mutating func encode(_ value: some Encodable) throws { try child().encode(value) }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy keyType: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        child().container(keyedBy: keyType)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { child().unkeyedContainer() }

    mutating func superEncoder() -> any Encoder { child() }
}

struct TreeSingleValueContainer: SingleValueEncodingContainer {
    let encoder: TreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() { encoder.node.set(.null) }

    mutating func encode(_ value: some Encodable) throws {
        // A longer path makes nested wrappers subject to the limit on nesting.
        try encoder.nested(encoder.node, key: TreeKey("value")).encode(value)
    }
}
