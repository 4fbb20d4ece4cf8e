/// The members of an object.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: JSONTapeDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        var keys: [Key] = []
        var names: Set<NameBytes> = []
        decoder.forEachName { name, _ in
            guard names.insert(NameBytes(name)).inserted, let key = Key(stringValue: name) else { return }
            keys.append(key)
        }
        return keys
    }

    func contains(_ key: Key) -> Bool { decoder.member(key.stringValue) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { document.isNull(at: try value(key)) }

    private var document: JSONDocument { decoder.document }

    /// The index of a member's value.
    @inline(__always) private func value(_ key: Key) throws -> Int {
        guard let index = decoder.member(key.stringValue) else { throw missing(key) }
        return index
    }

    /// The index of a member's value; nil if it is null or missing.
    @inline(__always) private func present(_ key: Key) -> Int? {
        guard let index = decoder.member(key.stringValue), !document.isNull(at: index) else { return nil }
        return index
    }

    @inline(never) private func missing(_ key: Key) -> DecodingError {
        let message = "No value associated with key \(key.stringValue.debugDescription)."
        return .keyNotFound(key, DecodingError.Context(codingPath: codingPath, debugDescription: message))
    }

    @inline(never) private func child(_ index: Int, _ key: Key) -> JSONTapeDecoder {
        JSONTapeDecoder(at: index, key: key, in: decoder)
    }

    // MARK: Containers

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try child(try value(key), key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(try value(key), key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { superDecoder(TreeKey("super")) }

    func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(key) }

    /// The decoder of a member; one of null if it is missing.
    private func superDecoder(_ key: any CodingKey) -> JSONTapeDecoder {
        JSONTapeDecoder(at: decoder.member(key.stringValue) ?? JSONTape.missing, key: key, in: decoder)
    }

    // MARK: Values

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try child(try value(key), key).decode(type)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try present(key).map { try child($0, key).decode(type) }
    }

    // A value that is not of the type is decoded again by a decoder, which makes the error.

    @inline(__always) private func integer<T: FixedWidthInteger & Decodable>(_ index: Int, _ key: Key) throws -> T {
        if let value = document.plainInteger(T.self, at: index) { return value }
        return try child(index, key).integer(T.self)
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        let index = try value(key)
        return try document.plainBool(at: index) ?? child(index, key).decode(type)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        guard let index = present(key) else { return nil }
        return try document.plainBool(at: index) ?? child(index, key).decode(type)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        let index = try value(key)
        return try document.plainString(at: index) ?? child(index, key).decode(type)
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        guard let index = present(key) else { return nil }
        return try document.plainString(at: index) ?? child(index, key).decode(type)
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        let index = try value(key)
        return try document.plainDouble(at: index) ?? child(index, key).decode(type)
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        guard let index = present(key) else { return nil }
        return try document.plainDouble(at: index) ?? child(index, key).decode(type)
    }

    func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
        let index = try value(key)
        return try child(index, key).decode(type)
    }

    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
        guard let index = present(key) else { return nil }
        return try child(index, key).decode(type)
    }

    // MARK: Integers

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(try value(key), key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try present(key).map { try integer($0, key) }
    }

    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(try value(key), key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
        try present(key).map { try integer($0, key) }
    }

    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(try value(key), key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
        try present(key).map { try integer($0, key) }
    }

    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(try value(key), key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
        try present(key).map { try integer($0, key) }
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(try value(key), key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        try present(key).map { try integer($0, key) }
    }

    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(try value(key), key) }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
        try present(key).map { try integer($0, key) }
    }

    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(try value(key), key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
        try present(key).map { try integer($0, key) }
    }

    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(try value(key), key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
        try present(key).map { try integer($0, key) }
    }

    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(try value(key), key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
        try present(key).map { try integer($0, key) }
    }

    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(try value(key), key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
        try present(key).map { try integer($0, key) }
    }

    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(try value(key), key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
        try present(key).map { try integer($0, key) }
    }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(try value(key), key) }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
        try present(key).map { try integer($0, key) }
    }
}
