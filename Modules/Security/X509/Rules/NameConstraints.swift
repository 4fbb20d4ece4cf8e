internal import LinnetMessages

/// The names that an authority may and may not certify (RFC 5280, 4.2.1.10).
struct NameConstraints: Sendable {
    let permitted: [NameSubtree]
    let excluded: [NameSubtree]
    /// Whether each subtree has its defined form. Malformed subtrees are still compared, and count against the name.
    let isProper: Bool
    /// Whether a malformed name is excluded, so that the authority's intention is unknown.
    let hasMalformedExclusion: Bool
    /// The forms of names that the constraints apply to.
    let forms: Set<ConstrainedName.Form>

    /// The number of subtrees.
    var subtrees: Int { permitted.count + excluded.count }

    init(_ der: DER) throws(DERError) {
        let list = try der.strictRoot(DER.Tag.sequence)
        var cursor = der.cursor(list)
        var (permitsProperNames, excludesProperNames) = (true, true)
        permitted = try Self.subtrees(der, cursor.optional(DER.Tag.context(0, constructed: true)), &permitsProperNames)
        excluded = try Self.subtrees(der, cursor.optional(DER.Tag.context(1, constructed: true)), &excludesProperNames)
        try cursor.end()
        forms = Set((permitted + excluded).map(\.form))
        isProper = !list.content.isEmpty && permitsProperNames && excludesProperNames
        hasMalformedExclusion = !excludesProperNames
    }

    private static func subtrees(
        _ der: DER, _ list: DER.Element?, _ isProper: inout Bool
    ) throws(DERError) -> [NameSubtree] {
        guard let list else { return [] }
        if list.content.isEmpty { isProper = false }
        var subtrees: [NameSubtree] = []
        var bases = der.cursor(list)
        while !bases.isAtEnd {
            var subtree = der.cursor(try bases.next(DER.Tag.sequence))
            let name = try GeneralName(der, subtree.next())
            // `minimum` is 0, which DER does not encode, and `maximum` is absent.
            try subtree.end()
            if !name.isConstraint { isProper = false }
            subtrees.append(try NameSubtree(name))
        }
        return subtrees
    }

    /// Whether the authority may certify a name.
    func admits(_ name: ConstrainedName) -> Bool {
        // A wildcard is many names: an exclusion counts if it has one of them, a permission only if it has all.
        guard !excluded.contains(where: { $0.touches(name) }) else { return false }
        let ofItsForm = permitted.filter { $0.form == name.form }
        return ofItsForm.isEmpty || ofItsForm.contains { $0.covers(name) }
    }
}

/// A subtree of name constraints (RFC 5280, 4.2.1.10), prepared for comparison.
///
/// If the base or a name cannot be interpreted, the name counts as excluded and as not permitted.
struct NameSubtree: Sendable {
    private enum Base: Sendable {
        /// In lower case. `isBelow` is set for a base with a leading dot, which RFC 5280 does not define for hosts.
        case host([UInt8], isBelow: Bool)
        case address(base: [UInt8], mask: [UInt8])
        /// A mailbox; the case of the local part is significant.
        case mailbox(local: String, host: String)
        /// All mailboxes of a host, or of all hosts below it if the base has a leading dot.
        case mailHost(String, isBelow: Bool)
        case uriHost(String, isBelow: Bool)
        case directory(DistinguishedName)
        case notUnderstood
    }

    let form: ConstrainedName.Form
    private let base: Base

    init(_ name: GeneralName) throws(DERError) {
        form = ConstrainedName.Form(name)
        switch name {
        case .host(let bytes): base = Self.host(bytes)
        case .address(let bytes): base = Self.address(bytes)
        case .mail(let bytes) where !GeneralName.isPrintable(bytes): base = .notUnderstood
        case .uri(let bytes) where !GeneralName.isPrintable(bytes): base = .notUnderstood
        case .mail(let bytes): base = Self.mail(String(decoding: bytes, as: UTF8.self))
        case .uri(let bytes):
            let text = String(decoding: bytes, as: UTF8.self).lowercased()
            base = .uriHost(text, isBelow: text.hasPrefix("."))
        case .directory(let bytes): base = .directory(try DistinguishedName(bytes))
        case .other: base = .notUnderstood
        }
    }

    private static func host(_ bytes: [UInt8]) -> Base {
        guard GeneralName.isPrintable(bytes) else { return .notUnderstood }
        var text = bytes.map(ASCII.lowercase)
        // A leading wildcard or dot is not a valid constraint; both are interpreted as covering the names below.
        if text.starts(with: [UInt8(ascii: "*"), UInt8(ascii: ".")]) { text.removeFirst() }
        let isBelow = text.first == UInt8(ascii: ".")
        if isBelow { text.removeFirst() }
        if text.last == UInt8(ascii: ".") { text.removeLast() }
        return text.contains(UInt8(ascii: "*")) ? .notUnderstood : .host(text, isBelow: isBelow)
    }

    private static func address(_ bytes: [UInt8]) -> Base {
        guard bytes.count == 8 || bytes.count == 32 else { return .notUnderstood }
        let mask = Array(bytes.suffix(bytes.count / 2))
        return .address(base: zip(bytes, mask).map { $0 & $1 }, mask: mask)
    }

    /// Nil if the address is of another family.
    private static func masked(_ bytes: [UInt8], _ mask: [UInt8]) -> [UInt8]? {
        bytes.count == mask.count ? zip(bytes, mask).map { $0 & $1 } : nil
    }

    private static func mail(_ text: String) -> Base {
        guard let at = text.lastIndex(of: "@") else {
            let host = text.lowercased()
            return .mailHost(host, isBelow: host.hasPrefix("."))
        }
        return .mailbox(local: String(text[..<at]), host: text[text.index(after: at)...].lowercased())
    }

    /// Whether the subtree contains all that a name covers.
    func covers(_ name: ConstrainedName) -> Bool {
        switch (base, name) {
        case (.host(let base, let isBelow), .host(let host)):
            host.isUnderstood && host.lies(in: base) && !(isBelow && !host.isWildcard && host.base == base)
        case (.address(let base, let mask), .address(let bytes)):
            Self.masked(bytes, mask) == base
        case (.mailbox(let local, let host), .mail(let mail)): mail.local == local && mail.host == host
        case (.mailHost(let host, let isBelow), .mail(let mail)): Self.host(mail.host, isIn: host, isBelow)
        case (.uriHost(let host, let isBelow), .uri(let name)): Self.host(name, isIn: host, isBelow)
        case (.directory(let base), .directory(let name)): name.map { base.isPrefix(of: $0) } ?? false
        default: false
        }
    }

    /// Whether the subtree contains any part of a name's range.
    func touches(_ name: ConstrainedName) -> Bool {
        guard form == name.form else { return false }
        switch (base, name) {
        case (.host(let base, _), .host(let host)):
            return !host.isUnderstood || host.lies(in: base) || host.isWildcard && host.stands(for: base)
        case (.address(let base, let mask), .address(let bytes)):
            guard [4, 16].contains(bytes.count) else { return true }
            // An IPv4 address equals its IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2). A range beyond `::ffff:0:0/96`,
            // such as `::/0`, contains only IPv6 addresses.
            let isWide = !mask.prefix(12).allSatisfy { $0 == 0xFF }
            let addresses = bytes.count == 4 && isWide ? [bytes] : ConstrainedName.addresses(bytes)
            return addresses.contains { Self.masked($0, mask) == base }
        case (.mailbox(let local, let host), .mail(let mail)):
            return mail.host == nil || mail.host == host && mail.local?.lowercased() == local.lowercased()
        case (.mailHost(let host, let isBelow), .mail(let mail)):
            return mail.host == nil || Self.host(mail.host, isIn: host, isBelow)
        case (.uriHost(let host, let isBelow), .uri(let name)):
            return name == nil || Self.host(name, isIn: host, isBelow)
        case (.directory(let base), .directory(let name)): return name.map { base.isPrefix(of: $0) } ?? true
        default: return true
        }
    }

    private static func host(_ name: String?, isIn host: String, _ isBelow: Bool) -> Bool {
        guard let name else { return false }
        return host.isEmpty || (isBelow ? name.hasSuffix(host) : name == host)
    }
}

/// A GeneralName (RFC 5280, 4.2.1.6).
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
    /// Another form, identified by its tag.
    case other(UInt8)

    /// Reads a name, with DER contents, in the only valid encoding of its form. In another encoding, such as a
    /// constructed string, two parsers can disagree about the name.
    init(_ der: DER, _ element: DER.Element) throws(DERError) {
        switch element.tag {
        case DER.Tag.context(1): self = .mail(der.content(element))
        case DER.Tag.context(2): self = .host(der.content(element))
        case DER.Tag.context(4, constructed: true):
            self = .directory(der.whole(try der.cursor(element).only(DER.Tag.sequence)))
        case DER.Tag.context(6): self = .uri(der.content(element))
        case DER.Tag.context(7): self = .address(der.content(element))
        // otherName, x400Address, ediPartyName and registeredID.
        case DER.Tag.context(0, constructed: true), DER.Tag.context(3, constructed: true),
            DER.Tag.context(5, constructed: true), DER.Tag.context(8):
            self = .other(element.tag)
        default: throw DERError()
        }
    }

    /// Reads a list of names (GeneralNames), which may be empty.
    static func list(_ der: DER, _ list: DER.Element) throws(DERError) -> [GeneralName] {
        var names: [GeneralName] = []
        var cursor = der.cursor(list)
        while !cursor.isAtEnd { names.append(try GeneralName(der, cursor.next())) }
        return names
    }

    /// Whether the name is a host or an address, the forms that servers are identified by.
    var isForHost: Bool {
        switch self {
        case .host, .address: true
        case .mail, .uri, .directory, .other: false
        }
    }

    /// Whether the name has a valid form for name constraints (RFC 5280, 4.2.1.10): an address with a contiguous mask,
    /// a host without wildcards and without a leading dot.
    var isConstraint: Bool {
        switch self {
        case .host(let bytes):
            return bytes.first != UInt8(ascii: ".") && Self.isPrintable(bytes) && !bytes.contains(UInt8(ascii: "*"))
        case .address(let bytes):
            guard bytes.count == 8 || bytes.count == 32 else { return false }
            let mask = bytes.suffix(bytes.count / 2)
            guard let partial = mask.firstIndex(where: { $0 != 0xFF }) else { return true }
            return ~mask[partial] & (~mask[partial] &+ 1) == 0 && mask[(partial + 1)...].allSatisfy { $0 == 0 }
        case .mail(let bytes), .uri(let bytes): return Self.isPrintable(bytes)
        case .directory, .other: return true
        }
    }

    /// Whether all octets are visible ASCII characters.
    static func isPrintable(_ bytes: [UInt8]) -> Bool { bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F } }
}
