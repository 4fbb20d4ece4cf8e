internal import FoundationEssentials

/// The settings of a ``JSONBodyDecoder``.
struct JSONDecodingSettings: Sendable {
    enum Dates: Sendable {
        /// ISO 8601 with or without a fraction of a second.
        case standard
        case strategy(JSONDecoder.DateDecodingStrategy)
    }

    var dates = Dates.standard
    var data = JSONDecoder.DataDecodingStrategy.base64
    var keys = JSONDecoder.KeyDecodingStrategy.useDefaultKeys
    var floats = JSONDecoder.NonConformingFloatDecodingStrategy.throw
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    var treeMemory = JSONValue.ParsingOptions().maximumMemory

    /// Reads a date in ISO 8601 with or without a fraction of a second.
    static func standardDate(from decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        if let date = Date(iso8601Text: text) { return date }
        throw DecodingError.dataCorruptedError(
            in: container, debugDescription: "\(String(text.prefix(60)).debugDescription) is not a date in ISO 8601.")
    }
}

/// A JSON text while values are decoded from it: its bytes, the tape of its values, and the settings.
///
/// Its bytes are borrowed during the call of `decode`; ``keepBytes()`` copies them if a decoder outlives the call.
final class JSONDocument {
    private(set) var bytes: UnsafePointer<UInt8>
    private var byteCount: Int
    private var ownsBytes = false
    let tape: JSONTape
    let settings: JSONDecodingSettings
    let changesKeys: Bool
    /// Passed to the type's `init(from:)`.
    private(set) lazy var userInfo: [CodingUserInfoKey: Any] = settings.userInfo
    // The decoders of the types in this text. They are few, so a search from the start finds them sooner than a
    // dictionary.
    private var types: [(type: ObjectIdentifier, kind: JSONTypeKind)] = []
    // The names of this text by their snake-case form.
    private var convertedNames: [NameBytes: String] = [:]
    /// The memory that trees of this text may still take, in bytes.
    var treeMemory: Int

    init(_ buffer: UnsafeRawBufferPointer, settings: JSONDecodingSettings) throws(JSONSyntaxError) {
        tape = try JSONTapeScanner.scan(buffer)
        // A text that was accepted is not empty.
        bytes = buffer.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: UInt8.self)
        byteCount = buffer.count
        self.settings = settings
        treeMemory = settings.treeMemory
        if case .useDefaultKeys = settings.keys { changesKeys = false } else { changesKeys = true }
    }

    deinit {
        if ownsBytes { bytes.deallocate() }
    }

    /// Copies the borrowed bytes.
    func keepBytes() {
        let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: byteCount)
        copy.initialize(from: bytes, count: byteCount)
        bytes = UnsafePointer(copy)
        ownsBytes = true
    }

    func kind<T>(of type: T.Type) -> JSONTypeKind {
        let identifier = ObjectIdentifier(type)
        for entry in types where entry.type == identifier { return entry.kind }
        let kind = JSONTypeKind(type)
        types.append((identifier, kind))
        return kind
    }

    /// A name that is converted from snake case.
    func convertedName(_ name: String) -> String {
        let bytes = NameBytes(name)
        if let converted = convertedNames[bytes] { return converted }
        let converted = SnakeCase.decoded(name)
        convertedNames[bytes] = converted
        return converted
    }

    /// The bytes of a scalar.
    @inline(__always) func text(at index: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: bytes + tape.offset(at: index), count: tape.length(at: index))
    }

    // MARK: Numbers

    /// The integer at an index that has a number; nil if it has a fraction or does not fit.
    @inline(__always) func integer<Integer: FixedWidthInteger>(_ type: Integer.Type, at index: Int) -> Integer? {
        let text = text(at: index)
        guard tape.kind(at: index) == .integer, text.count <= 18 else { return wideInteger(type, text) }
        var position = 0
        let isNegative = text[0] == UInt8(ascii: "-")
        if isNegative { position = 1 }
        var value = 0
        while position < text.count {
            value = value &* 10 &+ Int(truncatingIfNeeded: text[position] &- 0x30)
            position &+= 1
        }
        return Integer(exactly: isNegative ? 0 &- value : value)
    }

    @inline(never) private func wideInteger<Integer: FixedWidthInteger>(
        _ type: Integer.Type, _ text: UnsafeBufferPointer<UInt8>
    ) -> Integer? {
        let decimal = JSONDecimal(text)
        if let value = decimal.integer(type, text) { return value }
        // As in Foundation, a number below the least `Double` is zero.
        return decimal.exponent < -300 && Double(String(decoding: text, as: UTF8.self)) == 0 ? 0 : nil
    }

    /// The nearest `Double` to the number at an index; nil if it overflows, or underflows to zero.
    func double(at index: Int) -> Double? {
        let text = text(at: index)
        let decimal = JSONDecimal(text)
        if let value = decimal.exactDouble { return value }
        return Double(String(decoding: text, as: UTF8.self)).flatMap { $0.isFinite && $0 != 0 ? $0 : nil }
    }

    /// The nearest `Float` to the number at an index; nil if it overflows, or underflows to zero.
    func float(at index: Int) -> Float? {
        let text = text(at: index)
        let decimal = JSONDecimal(text)
        if decimal.isZero { return decimal.isNegative ? -0.0 : 0 }
        return Float(String(decoding: text, as: UTF8.self)).flatMap { $0.isFinite && $0 != 0 ? $0 : nil }
    }

    // MARK: Strings

    @inline(__always) func string(at index: Int) -> String {
        let text = text(at: index)
        return tape.kind(at: index) == .string ? String(decoding: text, as: UTF8.self) : Self.unescaped(text)
    }

    /// The text of a string that has escapes, which a scanner has checked.
    private static func unescaped(_ text: UnsafeBufferPointer<UInt8>) -> String {
        String(unsafeUninitializedCapacity: text.count) { output in
            var (position, count) = (0, 0)
            while position < text.count {
                let byte = text[position]
                position += 1
                guard byte == UInt8(ascii: "\\") else {
                    output[count] = byte
                    count += 1
                    continue
                }
                // An escape is never shorter than the UTF-8 that it stands for.
                let scalar = scalar(of: text, at: &position)
                for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                    output[count] = byte
                    count += 1
                }
            }
            return count
        }
    }

    /// Starts after a backslash, and ends after the escape, or after the two of a surrogate pair.
    private static func scalar(of text: UnsafeBufferPointer<UInt8>, at position: inout Int) -> Unicode.Scalar {
        let byte = text[position]
        position += 1
        switch byte {
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: return Unicode.Scalar(byte)
        }
        let high = hexadecimalQuad(text, at: &position)
        if let scalar = Unicode.Scalar(high) { return scalar }
        position += 2
        let low = hexadecimalQuad(text, at: &position)
        return Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}"
    }

    private static func hexadecimalQuad(_ text: UnsafeBufferPointer<UInt8>, at position: inout Int) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            value = value << 4 | UInt32(HexadecimalDigit.value(of: text[position]) ?? 0)
            position += 1
        }
        return value
    }
}
