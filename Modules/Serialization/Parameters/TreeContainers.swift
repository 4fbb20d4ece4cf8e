struct TreeKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: TreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func child(_ key: any CodingKey) -> TreeEncoder {
        encoder.nested(encoder.node.child(encoder.name(key)), key: key)
    }

    mutating func encodeNil(forKey key: Key) { child(key).node.content = .value(.null) }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws { try child(key).encode(value) }

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
        if case .array(let nodes) = encoder.node.content { count = nodes.count }
    }

    private mutating func child() -> TreeEncoder {
        defer { count += 1 }
        return encoder.nested(encoder.node.appendChild(), key: TreeKey(index: count))
    }

    mutating func encodeNil() { child().node.content = .value(.null) }

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

    mutating func encodeNil() { encoder.node.content = .value(.null) }

    mutating func encode(_ value: some Encodable) throws {
        // The path does not grow here, so a wrapper around a wrapper would escape the limit on nesting.
        try encoder.nested(encoder.node, key: TreeKey("value")).encode(value)
    }
}
