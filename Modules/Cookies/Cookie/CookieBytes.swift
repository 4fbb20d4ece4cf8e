internal import LinnetMessages

/// The octets of a name, a value or a path.
///
/// Servers send any octets, and must get them back unchanged. The comparison is by octets, because cookies of different
/// octets are different cookies, whereas `String` compares by canonical equivalence.
struct CookieBytes: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    init(_ text: String) { bytes = Array(text.utf8) }

    var isEmpty: Bool { bytes.isEmpty }
    var count: Int { bytes.count }

    /// The octets as UTF-8; invalid ones are replaced.
    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether there is a control character other than a tab (RFC 6265bis, sections 5.6 and 5.7).
    var hasControl: Bool { bytes.contains(where: \.isCookieControl) }

    /// Whether the octets begin with an ASCII text in any case.
    func begins(with prefix: StaticString) -> Bool {
        prefix.withUTF8Buffer { prefix in
            bytes.count >= prefix.count && zip(bytes, prefix).allSatisfy { ASCII.lowercase($0) == ASCII.lowercase($1) }
        }
    }
}

extension CookieBytes: Codable {
    /// Decodes a text, or an array of octets.
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self.init(text)
        } else {
            self.init(try container.decode([UInt8].self))
        }
    }

    /// Encodes valid UTF-8 as a text, and other octets as an array.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let text = String(validating: bytes, as: UTF8.self) {
            try container.encode(text)
        } else {
            try container.encode(bytes)
        }
    }
}

extension UInt8 {
    /// %x00-08, %x0A-1F or %x7F: the control characters except for a tab (RFC 6265bis, section 5.6).
    var isCookieControl: Bool { self < 0x20 && self != 0x09 || self == 0x7F }

    var isDigit: Bool { 0x30...0x39 ~= self }
}
