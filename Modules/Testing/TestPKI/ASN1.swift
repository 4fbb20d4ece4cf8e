/// Writes DER (X.690), also such as no authority would issue.
package enum ASN1 {
    package static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        if content.count < 0x80 {
            length = [UInt8(content.count)]
        } else {
            var rest = content.count
            while rest > 0 {
                length.insert(UInt8(rest & 0xFF), at: 0)
                rest >>= 8
            }
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        return [tag] + length + content
    }

    package static func sequence(_ parts: [UInt8]...) -> [UInt8] { value(0x30, parts.flatMap { $0 }) }

    package static func sequence(of parts: [[UInt8]]) -> [UInt8] { value(0x30, parts.flatMap { $0 }) }

    /// An INTEGER of octets as they are, or of a small number.
    package static func integer(_ octets: [UInt8]) -> [UInt8] { value(0x02, octets) }

    package static func integer(_ number: UInt8) -> [UInt8] { value(0x02, number < 0x80 ? [number] : [0, number]) }

    /// An INTEGER that is positive whatever its first bit.
    package static func positive(_ octets: [UInt8]) -> [UInt8] {
        integer((octets.first ?? 0) < 0x80 ? octets : [0] + octets)
    }

    package static func bitString(_ octets: [UInt8], unused: UInt8 = 0) -> [UInt8] { value(0x03, [unused] + octets) }

    package static func octetString(_ octets: [UInt8]) -> [UInt8] { value(0x04, octets) }

    package static let null: [UInt8] = [0x05, 0x00]

    package static let yes: [UInt8] = [0x01, 0x01, 0xFF]

    /// From dotted decimal.
    package static func object(_ dotted: String) -> [UInt8] {
        let numbers = dotted.split(separator: ".").compactMap { UInt64($0) }
        guard numbers.count > 1 else { return value(0x06, []) }
        return value(0x06, ([numbers[0] * 40 + numbers[1]] + numbers.dropFirst(2)).flatMap(base128))
    }

    private static func base128(_ number: UInt64) -> [UInt8] {
        var octets = [UInt8(number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            octets.insert(0x80 | UInt8(rest & 0x7F), at: 0)
            rest >>= 7
        }
        return octets
    }

    /// A name of one common name; empty for nil.
    package static func name(_ commonName: String?) -> [UInt8] {
        guard let commonName else { return sequence() }
        return sequence(value(0x31, sequence(object("2.5.4.3"), value(0x0C, Array(commonName.utf8)))))
    }

    package static func utcTime(_ text: String) -> [UInt8] { value(0x17, Array(text.utf8)) }

    package static func generalizedTime(_ text: String) -> [UInt8] { value(0x18, Array(text.utf8)) }

    /// A dNSName of any bytes.
    package static func host(_ text: String) -> [UInt8] { value(0x82, Array(text.utf8)) }

    package static func address(_ octets: [UInt8]) -> [UInt8] { value(0x87, octets) }
}
