internal import LinnetMessages

/// A name of a certificate, or a requested host, in the form that name constraints are compared with.
enum ConstrainedName: Sendable {
    /// The form of a name. Constraints of one form do not apply to names of another.
    enum Form: Sendable, Hashable {
        case host
        case address
        case mail
        case uri
        case directory
        case other(UInt8)

        init(_ name: GeneralName) {
            switch name {
            case .host: self = .host
            case .address: self = .address
            case .mail: self = .mail
            case .uri: self = .uri
            case .directory: self = .directory
            case .other(let tag): self = .other(tag & 0x1F)
            }
        }
    }

    struct Host: Sendable {
        /// In lower case, without a leading wildcard or a trailing dot.
        let base: [UInt8]
        /// Whether the name covers every name with one more label.
        let isWildcard: Bool
        /// Whether a wildcard, if any, is the whole left-most label (RFC 9525, 6.3).
        let isUnderstood: Bool
    }

    struct Mail: Sendable {
        let local: String?
        /// Nil if the text is not a mailbox.
        let host: String?
    }

    case host(Host)
    case address([UInt8])
    case mail(Mail)
    /// The URI's host; nil if it has none or an address.
    case uri(String?)
    /// Nil if it cannot be read.
    case directory(DistinguishedName?)
    case other(UInt8)

    init(_ name: GeneralName) {
        switch name {
        case .host(let bytes): self = .host(Host(bytes))
        case .address(let bytes): self = .address(bytes)
        case .mail(let bytes): self = .mail(Mail(String(decoding: bytes, as: UTF8.self)))
        case .uri(let bytes): self = .uri(Self.uriHost(String(decoding: bytes, as: UTF8.self)))
        case .directory(let bytes): self = .directory(try? DistinguishedName(bytes))
        case .other(let tag): self = .other(tag)
        }
    }

    /// A requested host.
    init(_ host: HostName) {
        switch host {
        case .name(let name): self = .host(Host(Array(name.utf8)))
        case .address(let bytes): self = .address(bytes)
        }
    }

    var form: Form {
        switch self {
        case .host: .host
        case .address: .address
        case .mail: .mail
        case .uri: .uri
        case .directory: .directory
        case .other(let tag): .other(tag & 0x1F)
        }
    }

    /// An address, and its IPv4-mapped counterpart if there is one (RFC 4291, 2.5.5.2).
    static func addresses(_ bytes: [UInt8]) -> [[UInt8]] {
        let prefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        if bytes.count == 4 { return [bytes, prefix + bytes] }
        return bytes.starts(with: prefix) ? [bytes, Array(bytes.suffix(4))] : [bytes]
    }

    /// The host of a URI with an authority (RFC 3986, 3.2).
    private static func uriHost(_ text: String) -> String? {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
        let authority = text[colon...].dropFirst(3).prefix { !"/?#".contains($0) }
        let behindUser = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        guard !behindUser.hasPrefix("["), let host = behindUser.split(separator: ":").first,
            case .name(let name) = HostName(String(host))
        else { return nil }
        return name
    }
}

extension ConstrainedName.Host {
    init(_ bytes: [UInt8]) {
        let (dot, star) = (UInt8(ascii: "."), UInt8(ascii: "*"))
        var name = bytes.map(ASCII.lowercase)
        if name.last == dot { name.removeLast() }
        isWildcard = name.starts(with: [star, dot])
        if isWildcard { name.removeFirst(2) }
        base = name
        // Code in C takes a NUL for the end of the name, and would compare only the part before it.
        isUnderstood = !name.isEmpty && !name.contains(star) && !name.contains(0)
    }

    /// Whether the name equals another or is below it; every name is below the empty one.
    func lies(in other: [UInt8]) -> Bool { Self.isBelow(base, other) || base == other }

    /// Whether the wildcard covers a name: one with one more label.
    func stands(for name: [UInt8]) -> Bool {
        Self.isBelow(name, base) && !name.prefix(name.count - base.count - 1).contains(UInt8(ascii: "."))
    }

    private static func isBelow(_ name: [UInt8], _ base: [UInt8]) -> Bool {
        guard !base.isEmpty else { return true }
        guard name.count > base.count, name.suffix(base.count).elementsEqual(base) else { return false }
        return name[name.count - base.count - 1] == UInt8(ascii: ".")
    }
}

extension ConstrainedName.Mail {
    init(_ text: String) {
        guard let at = text.lastIndex(of: "@") else {
            (local, host) = (nil, nil)
            return
        }
        (local, host) = (String(text[..<at]), text[text.index(after: at)...].lowercased())
    }
}

extension ConstrainedName: CustomStringConvertible {
    /// The name as messages show it.
    var description: String {
        switch self {
        case .host(let host): "\"" + (host.isWildcard ? "*." : "") + String(decoding: host.base, as: UTF8.self) + "\""
        case .address(let bytes) where [4, 16].contains(bytes.count): "\"" + HostName.address(bytes).text + "\""
        case .address: "an address that cannot be read"
        case .mail(let mail): "the mail address \"\(mail.local ?? "")@\(mail.host ?? "")\""
        case .uri(let host): "a URI of \"\(host ?? "no host")\""
        case .directory: "its subject or another name in a directory"
        case .other(let tag): "a name of form \(tag & 0x1F)"
        }
    }
}

/// A Name in the form for comparison (RFC 5280, 7.1): case, string type and repeated spaces are ignored.
struct DistinguishedName: Sendable, Hashable {
    struct Attribute: Sendable, Hashable {
        let identifier: ObjectIdentifier
        /// The lower-case text; nil if the value is not a string.
        let text: String?
        /// The value with its tag, if it is not a string.
        let bytes: [UInt8]
    }

    /// The relative names from the root; the order within one relative name is not significant.
    let relativeNames: [Set<Attribute>]

    /// Reads a whole Name.
    init(_ bytes: [UInt8]) throws(DERError) {
        let der = DER(bytes: bytes)
        var relativeNames: [Set<Attribute>] = []
        var sets = der.cursor(try der.strictRoot(DER.Tag.sequence))
        while !sets.isAtEnd {
            var attributes: Set<Attribute> = []
            var set = der.cursor(try sets.next(DER.Tag.set))
            repeat {
                attributes.insert(try Self.attribute(der, set.next(DER.Tag.sequence)))
            } while !set.isAtEnd
            relativeNames.append(attributes)
        }
        self.relativeNames = relativeNames
    }

    /// Whether another name lies in the subtree of this one.
    func isPrefix(of other: DistinguishedName) -> Bool {
        relativeNames.count <= other.relativeNames.count
            && zip(relativeNames, other.relativeNames).allSatisfy { $0 == $1 }
    }

    /// The mail addresses in the subject, as older certificates have them (RFC 5280, 4.1.2.6).
    var mailAddresses: [String] {
        relativeNames.flatMap { $0 }.filter { $0.identifier == .mailAddress }.map { $0.text ?? "" }
    }

    private static func attribute(_ der: DER, _ element: DER.Element) throws(DERError) -> Attribute {
        var cursor = der.cursor(element)
        let identifier = ObjectIdentifier(der.content(try cursor.next(DER.Tag.objectIdentifier)))
        let value = try cursor.next()
        try cursor.end()
        let text = try string(value.tag, der.bytes[value.content]).map(comparable)
        return Attribute(identifier: identifier, text: text, bytes: text == nil ? der.whole(value) : [])
    }

    private static func comparable(_ text: String) -> String {
        text.lowercased().split(separator: " ").joined(separator: " ")
    }

    /// Nil for values of other types. Text that is not valid would be repaired to equal other text, and is refused.
    private static func string(_ tag: UInt8, _ content: ArraySlice<UInt8>) throws(DERError) -> String? {
        switch tag {
        // UTF8String, NumericString, PrintableString, IA5String, VisibleString.
        case 0x0C, 0x12, 0x13, 0x16, 0x1A: return try valid(String(validating: content, as: UTF8.self))
        // TeletexString, read as Latin-1, which is common practice.
        case 0x14: return String(String.UnicodeScalarView(content.map { Unicode.Scalar($0) }))
        // BMPString.
        case 0x1E:
            guard content.count % 2 == 0 else { throw DERError() }
            let octets = Array(content)
            let units = stride(from: 0, to: octets.count, by: 2).map { (index: Int) -> UInt16 in
                UInt16(octets[index]) << 8 | UInt16(octets[index + 1])
            }
            return try valid(String(validating: units, as: UTF16.self))
        default: return nil
        }
    }

    private static func valid(_ text: String?) throws(DERError) -> String {
        guard let text else { throw DERError() }
        return text
    }
}
