/// A name of a certificate, or one that is asked for, as name constraints are compared with it.
enum ConstrainedName: Sendable {
    /// A name's form: constraints of one form say nothing of names of another.
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
        /// In lower case, without a wildcard in front and a dot at the end.
        let base: [UInt8]
        /// Whether it stands for each name of one label more.
        let isWildcard: Bool
        /// Whether nothing but a whole left-most label is a wildcard (RFC 9525, 6.3).
        let isUnderstood: Bool
    }

    struct Mail: Sendable {
        let local: String?
        /// Nil for what is no mailbox.
        let host: String?
    }

    case host(Host)
    case address([UInt8])
    case mail(Mail)
    /// The URI's host; nil where it has none, or an address.
    case uri(String?)
    /// Nil where it cannot be read.
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

    /// A host that is asked for.
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

    /// An address, and the same in the other family where it is mapped (RFC 4291, 2.5.5.2).
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
        isUnderstood = !name.isEmpty && !name.contains(star) && !name.contains(0)
    }

    /// Whether it is another name, or below it; every name is below the empty one.
    func lies(in other: [UInt8]) -> Bool { Self.isBelow(base, other) || base == other }

    /// Whether a name is one that this wildcard stands for: of one label more.
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
    /// The name in a message.
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
