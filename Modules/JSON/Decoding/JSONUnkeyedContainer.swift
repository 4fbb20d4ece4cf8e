/// The elements of an array, in order. An element that cannot be decoded stays the current one.
struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
    private let decoder: JSONTapeDecoder
    private let elementCount: Int
    private var index: Int
    private(set) var currentIndex = 0

    init(decoder: JSONTapeDecoder, first: Int, count: Int) {
        self.decoder = decoder
        elementCount = count
        index = first
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elementCount }
    var isAtEnd: Bool { currentIndex >= elementCount }

    private var document: JSONDocument { decoder.document }

    private func check(_ type: Any.Type, _ message: String = "The array has no more elements.") throws {
        guard isAtEnd else { return }
        let path = codingPath + [PositionKey(currentIndex)]
        throw DecodingError.valueNotFound(
            type, DecodingError.Context(codingPath: path, debugDescription: message))
    }

    private func child() -> JSONTapeDecoder { JSONTapeDecoder(at: index, position: currentIndex, in: decoder) }

    private mutating func advance() {
        index = document.tape.next(after: index)
        currentIndex += 1
    }

    // MARK: Containers

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try check(KeyedDecodingContainer<NestedKey>.self)
        let container = try child().container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try check((any UnkeyedDecodingContainer).self)
        let container = try child().unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        try check((any Decoder).self)
        let child = child()
        advance()
        return child
    }

    // MARK: Values

    mutating func decodeNil() throws -> Bool {
        try check(Never.self)
        guard document.isNull(at: index) else { return false }
        advance()
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try check(type)
        let value = try child().decode(type)
        advance()
        return value
    }

    private mutating func integer<T: FixedWidthInteger & Decodable>() throws -> T {
        try check(T.self)
        let value = try document.plainInteger(T.self, at: index) ?? child().integer(T.self)
        advance()
        return value
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try check(type)
        let value = try document.plainBool(at: index) ?? child().decode(type)
        advance()
        return value
    }

    mutating func decode(_ type: String.Type) throws -> String {
        try check(type)
        let value = try document.plainString(at: index) ?? child().decode(type)
        advance()
        return value
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        try check(type)
        let value = try document.plainDouble(at: index) ?? child().decode(type)
        advance()
        return value
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        try check(type)
        let value = try child().decode(type)
        advance()
        return value
    }

    // MARK: Integers

    mutating func decode(_ type: Int.Type) throws -> Int { try integer() }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }
}
