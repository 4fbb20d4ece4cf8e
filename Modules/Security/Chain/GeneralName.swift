/// One of the forms of a name (RFC 5280, 4.2.1.6).
enum GeneralName: Sendable, Hashable {
    /// A dNSName.
    case host([UInt8])
    /// An iPAddress.
    case address([UInt8])
    /// An rfc822Name.
    case mail([UInt8])
    /// A uniformResourceIdentifier.
    case uri([UInt8])
    /// A directoryName, the whole Name.
    case directory([UInt8])
    /// Another form, by its tag.
    case other(UInt8)

    init(_ der: DER, _ element: DER.Element) {
        switch element.tag {
        case DER.Tag.context(1): self = .mail(der.content(element))
        case DER.Tag.context(2): self = .host(der.content(element))
        case DER.Tag.context(4, constructed: true): self = .directory(der.content(element))
        case DER.Tag.context(6): self = .uri(der.content(element))
        case DER.Tag.context(7): self = .address(der.content(element))
        default: self = .other(element.tag)
        }
    }

    /// Whether it is of a host or an address: what a server's certificate is for.
    var isForHost: Bool {
        switch self {
        case .host, .address: true
        case .mail, .uri, .directory, .other: false
        }
    }

    /// Whether it can stand in name constraints (RFC 5280, 4.2.1.10): an address with a mask of ones before zeros, a host
    /// without wildcards and without a dot in front.
    var isConstraint: Bool {
        switch self {
        case .host(let bytes):
            return bytes.first != UInt8(ascii: ".") && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x2A }
        case .address(let bytes):
            guard bytes.count == 8 || bytes.count == 32 else { return false }
            let mask = bytes.suffix(bytes.count / 2)
            guard let partial = mask.firstIndex(where: { $0 != 0xFF }) else { return true }
            return ~mask[partial] & (~mask[partial] &+ 1) == 0 && mask[(partial + 1)...].allSatisfy { $0 == 0 }
        case .mail, .uri, .directory: return true
        case .other(let tag): return tag & 0xC0 == 0x80
        }
    }
}
