/// An encoding of JSON texts other than UTF-8.
///
/// A text begins with a byte order mark or a character of ASCII, so that its first zeros tell the encoding.
enum JSONTextEncoding {
    case utf16(isBigEndian: Bool, start: Int)
    case utf32(isBigEndian: Bool, start: Int)

    /// Nil for UTF-8.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 2 else { return nil }
        let (first, second) = (bytes[0], bytes[1])
        let third = bytes.count >= 4 ? bytes[2] : 0x20
        let fourth = bytes.count >= 4 ? bytes[3] : 0x20
        switch (first, second, third, fourth) {
        case (0, 0, 0xFE, 0xFF): self = .utf32(isBigEndian: true, start: 4)
        case (0xFF, 0xFE, 0, 0): self = .utf32(isBigEndian: false, start: 4)
        case (0xFE, 0xFF, _, _): self = .utf16(isBigEndian: true, start: 2)
        case (0xFF, 0xFE, _, _): self = .utf16(isBigEndian: false, start: 2)
        case (0, 0, _, _): self = .utf32(isBigEndian: true, start: 0)
        case (0, _, _, _): self = .utf16(isBigEndian: true, start: 0)
        case (_, 0, 0, 0): self = .utf32(isBigEndian: false, start: 0)
        case (_, 0, _, _): self = .utf16(isBigEndian: false, start: 0)
        default: return nil
        }
    }

    /// The text; an error if the bytes are not in the encoding.
    func text(_ bytes: UnsafeRawBufferPointer) throws -> String {
        let text: String? =
            switch self {
            case .utf16(let isBigEndian, let start):
                Self.units(bytes, from: start, isBigEndian, UInt16.self).flatMap {
                    String(validating: $0, as: UTF16.self)
                }
            case .utf32(let isBigEndian, let start):
                Self.units(bytes, from: start, isBigEndian, UInt32.self).flatMap {
                    String(validating: $0, as: UTF32.self)
                }
            }
        guard let text else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: [], debugDescription: "The text is not JSON: it is neither UTF-8, UTF-16 nor UTF-32."))
        }
        return text
    }

    private static func units<Unit: FixedWidthInteger>(
        _ bytes: UnsafeRawBufferPointer, from start: Int, _ isBigEndian: Bool, _ type: Unit.Type
    ) -> [Unit]? {
        let size = MemoryLayout<Unit>.size
        guard (bytes.count - start) % size == 0 else { return nil }
        return stride(from: start, to: bytes.count, by: size).map { offset in
            let unit = bytes.loadUnaligned(fromByteOffset: offset, as: type)
            return isBigEndian ? Unit(bigEndian: unit) : Unit(littleEndian: unit)
        }
    }
}
