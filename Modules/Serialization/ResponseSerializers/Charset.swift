internal import LinnetMessages

/// A character encoding.
///
/// Linnet decodes UTF-8, UTF-16, UTF-32, US-ASCII, ISO 8859-1 and windows-1252. The other charsets on the web (WHATWG
/// Encoding, section 4.2) are decoded by `iconv` of the C library. With glibc, its converters are modules, which a
/// minimal image may lack (Debian and Ubuntu package them in `libc6` or `libc-bin`, Fedora in `glibc-gconv-extra`)
/// and a statically linked program cannot load. Musl has fewer of them built in. A missing converter is an error that
/// says so.
///
/// Bytes that are not in the charset are an error; nothing is replaced.
public struct Charset: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The name in lower case.
    public let description: String
    private let closure: CharsetClosure?

    private init(_ description: String) {
        self.description = description
        closure = nil
    }

    /// UTF-8; invalid bytes are an error.
    public static let utf8 = Charset("utf-8")
    /// US-ASCII; a byte above 127 is an error.
    public static let ascii = Charset("us-ascii")
    /// ISO 8859-1: each byte is the scalar with its number.
    public static let latin1 = Charset("iso-8859-1")
    /// Windows-1252: ISO 8859-1 with letters and symbols in place of the C1 controls; five bytes are an error.
    public static let windows1252 = Charset("windows-1252")
    /// UTF-16 in the order of its byte order mark, big endian without one (RFC 2781, section 4.3).
    public static let utf16 = Charset("utf-16")
    /// UTF-16, big endian, unless a byte order mark says otherwise.
    public static let utf16BigEndian = Charset("utf-16be")
    /// UTF-16, little endian, unless a byte order mark says otherwise.
    public static let utf16LittleEndian = Charset("utf-16le")
    static let utf32BigEndian = Charset("utf-32be")
    static let utf32LittleEndian = Charset("utf-32le")

    /// The charset for a label of the WHATWG Encoding standard or an IANA name, regardless of case and surrounding
    /// blanks; nil if it is not supported.
    ///
    /// US-ASCII and ISO-8859-1 follow IANA's definitions; they are not windows-1252. `gb2312`, `shift_jis`, `euc-kr`
    /// and `iso-8859-9` are the larger charsets that browsers use for these labels: GB 18030, windows-31J, windows-949
    /// and windows-1254. Charsets that browsers refuse, such as `iso-2022-kr`, are nil.
    public init?(name: String) {
        let label = name.drop { $0 == " " || $0 == "\t" }
        let end = label.lastIndex { $0 != " " && $0 != "\t" }
        guard let end, let known = CharsetLabels.name(label[...end].lowercased()) else { return nil }
        self.init(known)
    }

    /// The charset of the byte order mark at the beginning; nil without one.
    ///
    /// UTF-32 comes first, because its little-endian mark begins with the mark of UTF-16.
    init?(byteOrderMarkOf bytes: some RandomAccessCollection<UInt8>) {
        switch Array(bytes.prefix(4)) {
        case [0xFF, 0xFE, 0, 0]: self = .utf32LittleEndian
        case [0, 0, 0xFE, 0xFF]: self = .utf32BigEndian
        case let mark where mark.starts(with: [0xEF, 0xBB, 0xBF]): self = .utf8
        case let mark where mark.starts(with: [0xFF, 0xFE]): self = .utf16LittleEndian
        case let mark where mark.starts(with: [0xFE, 0xFF]): self = .utf16BigEndian
        default: return nil
        }
    }

    /// Creates a charset with a closure that decodes it, for ``StringResponseSerializer/charsets``.
    ///
    /// Two such charsets are equal if one is a copy of the other. They are not `Codable`.
    ///
    /// - Parameters:
    ///   - name: The name in responses, case-insensitive.
    ///   - decode: Returns the text for bytes; nil if they are not in the charset.
    public init(custom name: String, decode: @escaping @Sendable ([UInt8]) -> String?) {
        description = name.lowercased()
        closure = CharsetClosure(decode)
    }

    /// The text for bytes, without a byte order mark; nil if the bytes are not in this charset, or the C library has
    /// no converter for it.
    ///
    /// A byte order mark of UTF-16 or UTF-32 has priority over the order that the charset's name says, as on the web.
    public func decode(_ bytes: some RandomAccessCollection<UInt8>) -> String? { try? text(of: bytes) }

    func text(of bytes: some RandomAccessCollection<UInt8>) throws(CharsetError) -> String {
        if let closure {
            guard let text = closure.decode(Array(bytes)) else { throw CharsetError(kind: .malformed, offset: 0) }
            return text
        }
        guard let decoder = CharsetLabels.decoder(description) else {
            throw CharsetError(kind: .noConverter, offset: 0)
        }
        if case .converter(let names) = decoder {
            guard let converter = CharsetConverter(from: names.split(separator: " ").map { String($0) }) else {
                throw CharsetError(kind: .noConverter, offset: 0)
            }
            let bytes = Array(bytes)
            if let offset = CharsetLabels.unassigned(in: bytes, description) {
                throw CharsetError(kind: .malformed, offset: offset)
            }
            return try converter.text(of: bytes)
        }
        guard let text = plainText(bytes, decoder) else { throw CharsetError(kind: .malformed, offset: 0) }
        return text
    }

    private func plainText(_ bytes: some RandomAccessCollection<UInt8>, _ decoder: CharsetDecoder) -> String? {
        switch decoder {
        case .utf8:
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            return String(validating: bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...], as: UTF8.self)
        case .ascii: return String(validating: bytes, as: Unicode.ASCII.self)
        case .latin1: return latin1(bytes)
        case .windows1252: return windows1252(bytes)
        case .userDefined:
            return String(decoding: bytes.map { $0 < 0x80 ? UInt16($0) : 0xF700 | UInt16($0) }, as: UTF16.self)
        case .utf16(let isBigEndian):
            if bytes.starts(with: [0xFF, 0xFE]) {
                return utf16(bytes.dropFirst(2), bigEndian: false)
            }
            if bytes.starts(with: [0xFE, 0xFF]) {
                return utf16(bytes.dropFirst(2), bigEndian: true)
            }
            return utf16(bytes[...], bigEndian: isBigEndian ?? true)
        case .utf32(let isBigEndian):
            if bytes.starts(with: [0xFF, 0xFE, 0, 0]) {
                return utf32(bytes.dropFirst(4), bigEndian: false)
            }
            if bytes.starts(with: [0, 0, 0xFE, 0xFF]) {
                return utf32(bytes.dropFirst(4), bigEndian: true)
            }
            return utf32(bytes[...], bigEndian: isBigEndian ?? true)
        case .converter: return nil
        }
    }

    private func latin1(_ bytes: some RandomAccessCollection<UInt8>) -> String {
        var utf8: [UInt8] = []
        utf8.reserveCapacity(bytes.count + bytes.count / 4)
        for byte in bytes {
            if byte < 0x80 {
                utf8.append(byte)
            } else {
                utf8.append(0xC0 | byte >> 6)
                utf8.append(0x80 | byte & 0x3F)
            }
        }
        return String(decoding: utf8, as: UTF8.self)
    }

    /// The characters from 0x80 to 0x9F; zero means unassigned.
    private static let windows1252Signs: [UInt16] = [
        0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
        0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
        0x0178,
    ]

    private func windows1252(_ bytes: some RandomAccessCollection<UInt8>) -> String? {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count)
        for byte in bytes {
            let unit = 0x80...0x9F ~= byte ? Self.windows1252Signs[Int(byte) - 0x80] : UInt16(byte)
            if unit == 0, byte != 0 { return nil }
            units.append(unit)
        }
        return String(decoding: units, as: UTF16.self)
    }

    private func utf16(_ bytes: some RandomAccessCollection<UInt8>, bigEndian: Bool) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var iterator = bytes.makeIterator()
        while let first = iterator.next(), let second = iterator.next() {
            let (high, low) = bigEndian ? (first, second) : (second, first)
            units.append(UInt16(high) << 8 | UInt16(low))
        }
        return String(validating: units, as: UTF16.self)
    }

    private func utf32(_ bytes: some RandomAccessCollection<UInt8>, bigEndian: Bool) -> String? {
        guard bytes.count.isMultiple(of: 4) else { return nil }
        var units: [UInt32] = []
        units.reserveCapacity(bytes.count / 4)
        var iterator = bytes.makeIterator()
        while let first = iterator.next(), let second = iterator.next(), let third = iterator.next(),
            let fourth = iterator.next()
        {
            let unit = [first, second, third, fourth].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            units.append(bigEndian ? unit : unit.byteSwapped)
        }
        return String(validating: units, as: UTF32.self)
    }
}

/// A closure with an identity, which makes its owner `Hashable`.
private final class CharsetClosure: Sendable, Hashable {
    let decode: @Sendable ([UInt8]) -> String?

    init(_ decode: @escaping @Sendable ([UInt8]) -> String?) { self.decode = decode }

    static func == (left: CharsetClosure, right: CharsetClosure) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension Charset {
    /// Decodes the name; throws `DecodingError` if the charset is not supported.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let name = try container.decode(String.self)
        guard let charset = Charset(name: name) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "The charset \(name.debugDescription) is not known."
            )
        }
        self = charset
    }

    /// Encodes the name; throws `EncodingError` if the charset has a closure.
    public func encode(to encoder: any Encoder) throws {
        if closure != nil {
            let context = EncodingError.Context(
                codingPath: encoder.codingPath,
                debugDescription: "A charset with a closure cannot be encoded."
            )
            throw EncodingError.invalidValue(self, context)
        }
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Why bytes are not text in a charset.
struct CharsetError: Error, Hashable, CustomStringConvertible {
    enum Kind {
        /// The bytes are not in the charset.
        case malformed
        /// The charset is known, but the C library has no converter for it: its module is not installed, or the program
        /// is linked statically and cannot load it.
        case noConverter
    }

    let kind: Kind
    /// The offset in bytes of the first malformed sequence, or of one before it.
    let offset: Int

    /// The end of a sentence, without its full stop.
    var description: String {
        kind == .malformed
            ? "byte \(offset) or a later one is not in the charset"
            : "the C library has no converter for it; install one, or set a charset of your own"
    }
}
