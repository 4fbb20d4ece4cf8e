struct TreeKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: TreeEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    private func child(_ key: any CodingKey) -> TreeEncoder {
        encoder.nested(encoder.node.child(encoder.name(key)), key: key)
    }

    mutating func encodeNil(forKey key: Key) { child(key).node.content = .value(.null) }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws { try child(key).encode(value) }

    private func encode(optional value: (some Encodable)?, _ key: Key) throws {
        if let value {
            try child(key).encode(value)
        } else if encoder.settings.encodesNilAsNull {
            child(key).node.content = .value(.null)
        }
    }

    // The protocol has a default for each of these types, which a generic function does not replace.
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
