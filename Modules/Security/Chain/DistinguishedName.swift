/// A Name in the form in which names are compared (RFC 5280, 7.1): without regard to case, to the type of string, and to
/// how many blanks stand where.
struct DistinguishedName: Sendable, Hashable {
    struct Attribute: Sendable, Hashable {
        let identifier: ObjectIdentifier
        /// Of a string, in lower case; nil for a value of another kind.
        let text: String?
        /// Of a value that is no string, with its tag.
        let bytes: [UInt8]
    }

    /// From the root on; the order within one does not count.
    let relativeNames: [Set<Attribute>]

    /// Reads a whole Name.
    init(_ bytes: [UInt8]) throws(DERError) {
        let der = DER(bytes: bytes)
        var relativeNames: [Set<Attribute>] = []
        for set in try der.children(der.root(DER.Tag.sequence)) {
            var attributes: Set<Attribute> = []
            for element in try der.children(set) { attributes.insert(try Self.attribute(der, element)) }
            relativeNames.append(attributes)
        }
        self.relativeNames = relativeNames
    }

    /// Whether this name is that of a directory's part in which another lies.
    func isPrefix(of other: DistinguishedName) -> Bool {
        relativeNames.count <= other.relativeNames.count
            && zip(relativeNames, other.relativeNames).allSatisfy { $0 == $1 }
    }

    /// The mail addresses that old certificates have in their subject (RFC 5280, 4.1.2.6).
    var mailAddresses: [String] {
        relativeNames.flatMap { $0 }.filter { $0.identifier == .mailAddress }.map { $0.text ?? "" }
    }

    private static func attribute(_ der: DER, _ element: DER.Element) throws(DERError) -> Attribute {
        var cursor = der.cursor(element)
        let identifier = ObjectIdentifier(der.content(try cursor.next(DER.Tag.objectIdentifier)))
        let value = try cursor.next()
        let text = string(value.tag, der.bytes[value.content]).map(comparable)
        return Attribute(identifier: identifier, text: text, bytes: text == nil ? der.whole(value) : [])
    }

    private static func comparable(_ text: String) -> String {
        text.lowercased().split(separator: " ").joined(separator: " ")
    }

    private static func string(_ tag: UInt8, _ content: ArraySlice<UInt8>) -> String? {
        switch tag {
        // UTF8String, NumericString, PrintableString, IA5String, VisibleString.
        case 0x0C, 0x12, 0x13, 0x16, 0x1A: return String(decoding: content, as: UTF8.self)
        // TeletexString, which is read as Latin-1 in practice.
        case 0x14: return String(String.UnicodeScalarView(content.map { Unicode.Scalar($0) }))
        // BMPString.
        case 0x1E:
            guard content.count % 2 == 0 else { return nil }
            let octets = Array(content)
            let units = stride(from: 0, to: octets.count, by: 2).map {
                UInt16(octets[$0]) << 8 | UInt16(octets[$0 + 1])
            }
            return String(decoding: units, as: UTF16.self)
        default: return nil
        }
    }
}
