/// One base of name constraints (RFC 5280, 4.2.1.10), ready to be compared.
///
/// Where a base or a name cannot be understood, the name is taken to be excluded, and not to be permitted.
struct NameSubtree: Sendable {
    private enum Base: Sendable {
        /// In lower case; `isBelow` for one with a dot in front, which RFC 5280 does not define for hosts.
        case host([UInt8], isBelow: Bool)
        case address(base: [UInt8], mask: [UInt8])
        /// A mailbox, its local part as it is.
        case mailbox(local: String, host: String)
        /// All mailboxes of a host; of those below it for one with a dot in front.
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
        case .mail(let bytes): base = Self.mail(String(decoding: bytes, as: UTF8.self))
        case .uri(let bytes):
            let text = String(decoding: bytes, as: UTF8.self).lowercased()
            base = .uriHost(text, isBelow: text.hasPrefix("."))
        case .directory(let bytes): base = .directory(try DistinguishedName(bytes))
        case .other: base = .notUnderstood
        }
    }

    private static func host(_ bytes: [UInt8]) -> Base {
        var text = bytes.map(ASCII.lowercase)
        // Neither a wildcard nor a dot in front is a constraint; both are meant for what is below.
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

    /// Nil for an address of another family.
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

    /// Whether all that a name stands for lies in the subtree.
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

    /// Whether anything that a name stands for lies in the subtree.
    func touches(_ name: ConstrainedName) -> Bool {
        guard form == name.form else { return false }
        switch (base, name) {
        case (.host(let base, _), .host(let host)):
            return !host.isUnderstood || host.lies(in: base) || host.isWildcard && host.stands(for: base)
        case (.address(let base, let mask), .address(let bytes)):
            // An IPv4 address is the same as the one mapped into IPv6 (RFC 4291, 2.5.5.2).
            guard [4, 16].contains(bytes.count) else { return true }
            return ConstrainedName.addresses(bytes).contains { Self.masked($0, mask) == base }
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

/// ASCII alone, whatever the locale.
enum ASCII {
    static func lowercase(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
}
