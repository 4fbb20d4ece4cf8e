internal import FoundationEssentials

extension JSONDocument {
    @inline(__always) func isNull(at index: Int) -> Bool { tape.kind(at: index) == .null }

    // The value of the type in its written form; nil for anything else.

    @inline(__always) func plainBool(at index: Int) -> Bool? {
        switch tape.kind(at: index) {
        case .true: true
        case .false: false
        default: nil
        }
    }

    @inline(__always) func plainString(at index: Int) -> String? {
        switch tape.kind(at: index) {
        case .string, .escapedString: string(at: index)
        default: nil
        }
    }

    @inline(__always) func plainDouble(at index: Int) -> Double? {
        switch tape.kind(at: index) {
        case .integer, .number: double(at: index)
        default: nil
        }
    }

    @inline(__always) func plainInteger<T: FixedWidthInteger>(_ type: T.Type, at index: Int) -> T? {
        switch tape.kind(at: index) {
        case .integer, .number: integer(type, at: index)
        default: nil
        }
    }
}

extension JSONTapeDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { document.isNull(at: index) }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard let value = document.plainBool(at: index) else { throw mismatch(type) }
        return value
    }

    func decode(_ type: String.Type) throws -> String {
        guard let value = document.plainString(at: index) else { throw mismatch(type) }
        return value
    }

    func decode(_ type: Double.Type) throws -> Double { try float(type) { $0.double(at: $1) } }
    func decode(_ type: Float.Type) throws -> Float { try float(type) { $0.float(at: $1) } }

    private func float<T: BinaryFloatingPoint>(_ type: T.Type, _ read: (JSONDocument, Int) -> T?) throws -> T {
        switch document.tape.kind(at: index) {
        case .integer, .number:
            guard let value = read(document, index) else { throw unrepresentable(type) }
            return value
        case .string, .escapedString:
            guard let value: T = nonConformingFloat(document.string(at: index)) else { throw mismatch(type) }
            return value
        default: throw mismatch(type)
        }
    }

    private func nonConformingFloat<T: BinaryFloatingPoint>(_ text: String) -> T? {
        guard case .convertFromString(let positive, let negative, let nan) = document.settings.floats else {
            return nil
        }
        if text == positive { return .infinity }
        if text == negative { return -.infinity }
        return text == nan ? .nan : nil
    }

    func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        switch document.tape.kind(at: index) {
        case .integer, .number:
            guard let value = document.integer(type, at: index) else { throw unrepresentable(type) }
            return value
        default: throw mismatch(type)
        }
    }

    func decode(_ type: Int.Type) throws -> Int { try integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        switch document.kind(of: type) {
        case .bool: try same(try decode(Bool.self))
        case .string: try same(try decode(String.self))
        case .double: try same(try decode(Double.self))
        case .int: try same(try decode(Int.self))
        case .date: try same(try date())
        case .data: try same(try data())
        case .url: try same(try url())
        case .decimal: try same(try decimal())
        case .list(let list): try same(try list.read(from: self))
        case .map(let map): try same(try map.read(from: self))
        case .other: try type.init(from: self)
        }
    }

    /// Casts a value to the requested type, which has been compared with its own.
    @inline(__always) private func same<Value, T>(_ value: Value) throws -> T {
        guard let value = value as? T else { throw mismatch(T.self) }
        return value
    }
}
