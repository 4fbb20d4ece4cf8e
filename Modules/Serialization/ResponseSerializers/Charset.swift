/// A character encoding that a text can be read in.
public struct Charset: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The name in lower case.
    public let description: String

    private init(_ description: String) { self.description = description }

    /// UTF-8; invalid bytes are an error.
    public static let utf8 = Charset("utf-8")
    /// US-ASCII; a byte above 127 is an error.
    public static let ascii = Charset("us-ascii")
    /// ISO 8859-1: each byte is the scalar of its number.
    public static let latin1 = Charset("iso-8859-1")
    /// Windows-1252, which is ISO 8859-1 with letters and signs in the place of C1's controls; five bytes are an error.
    public static let windows1252 = Charset("windows-1252")
    /// UTF-16 in the order of its byte order mark, big endian without one (RFC 2781, section 4.3).
    public static let utf16 = Charset("utf-16")
    /// UTF-16, big endian.
    public static let utf16BigEndian = Charset("utf-16be")
    /// UTF-16, little endian.
    public static let utf16LittleEndian = Charset("utf-16le")

    /// The charset of a name from IANA's register, without regard to case; nil if it cannot be read here.
    public init?(name: String) {
        switch name.lowercased() {
        case "utf-8", "utf8": self = .utf8
        case "us-ascii", "ascii": self = .ascii
        case "iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "l1": self = .latin1
        case "windows-1252", "cp1252": self = .windows1252
        case "utf-16": self = .utf16
        case "utf-16be": self = .utf16BigEndian
        case "utf-16le": self = .utf16LittleEndian
        default: return nil
        }
    }

    /// The text of the bytes, without a byte order mark; nil if the bytes are not in this charset.
    public func decode(_ bytes: some RandomAccessCollection<UInt8>) -> String? {
        switch self {
        case .utf8:
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            return String(validating: bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...], as: UTF8.self)
        case .ascii:
            return String(validating: bytes, as: Unicode.ASCII.self)
        case .latin1:
            return latin1(bytes)
        case .windows1252:
            return windows1252(bytes)
        case .utf16LittleEndian:
            return utf16(bytes.starts(with: [0xFF, 0xFE]) ? bytes.dropFirst(2) : bytes[...], bigEndian: false)
        case .utf16 where bytes.starts(with: [0xFF, 0xFE]):
            return utf16(bytes.dropFirst(2), bigEndian: false)
        default:
            return utf16(bytes.starts(with: [0xFE, 0xFF]) ? bytes.dropFirst(2) : bytes[...], bigEndian: true)
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

    /// The signs from 0x80 to 0x9F; a zero is no sign.
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
}

extension Charset {
    /// Reads a charset's name; throws `DecodingError` if it cannot be read here.
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

    /// Writes the name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
