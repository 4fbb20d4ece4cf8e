/// The decoded extensions that rules examine. Those that cannot be decoded are in ``malformed``.
struct KnownExtensions: Sendable {
    struct BasicConstraints: Sendable {
        let isAuthority: Bool
        /// The path length constraint. A number that exceeds Int's useful range counts as unlimited.
        let pathLength: Int?
    }

    /// The authority key identifier (RFC 5280, 4.2.1.1).
    struct AuthorityKeyIdentifier: Sendable {
        let keyIdentifier: [UInt8]?
        /// The serial number of the issuer's certificate.
        let serialNumber: [UInt8]?
    }

    private(set) var malformed: [ObjectIdentifier] = []
    private(set) var basicConstraints: BasicConstraints?
    private(set) var keyUsage: KeyUsage?
    private(set) var extendedKeyUsage: [ObjectIdentifier]?
    private(set) var alternativeNames: [GeneralName]?
    /// Nil if there are none, or if they cannot be read at all.
    private(set) var nameConstraints: NameConstraints?
    private(set) var authorityKeyIdentifier: AuthorityKeyIdentifier?
    private(set) var subjectKeyIdentifier: [UInt8]?
    /// The TLS extensions that the server promises to send (RFC 7633).
    private(set) var tlsFeatures: [Int] = []
    /// The number of policy mappings (RFC 5280, 4.2.1.5).
    private(set) var policyMappings = 0
    private(set) var hasPolicyConstraints = false
    /// The URIs in the full names of distribution points (RFC 5280, 4.2.1.13).
    private(set) var distributionURIs: [[UInt8]] = []

    init(_ extensions: [CertificateFacts.Extension]) {
        for entry in extensions {
            do {
                try read(entry.identifier, DER(bytes: entry.value))
            } catch {
                malformed.append(entry.identifier)
            }
        }
    }

    private mutating func read(_ identifier: ObjectIdentifier, _ der: DER) throws(DERError) {
        switch identifier {
        case .basicConstraints: basicConstraints = try Self.basicConstraints(der)
        case .keyUsage: keyUsage = try KeyUsage(der)
        case .extendedKeyUsage: extendedKeyUsage = try Self.extendedKeyUsage(der)
        case .subjectAlternativeName: alternativeNames = try Self.generalNames(der)
        case .nameConstraints: try readNameConstraints(der)
        case .authorityKeyIdentifier: authorityKeyIdentifier = try Self.authorityKeyIdentifier(der)
        case .subjectKeyIdentifier: subjectKeyIdentifier = try der.content(der.root(DER.Tag.octetString))
        case .authorityInformationAccess, .subjectInformationAccess: try Self.informationAccess(der)
        case .tlsFeature: tlsFeatures = try Self.tlsFeatures(der)
        case .policyMappings: policyMappings = try der.children(Self.nonEmpty(der)).count
        case .policyConstraints, .inhibitAnyPolicy: hasPolicyConstraints = true
        case .distributionPoints: distributionURIs = try Self.distributionURIs(der)
        default: break
        }
    }

    /// Whether the certificate identifies its issuer's key.
    var hasAuthorityKeyIdentifier: Bool { authorityKeyIdentifier?.keyIdentifier?.isEmpty == false }
    var hasSubjectKeyIdentifier: Bool { subjectKeyIdentifier?.isEmpty == false }

    /// Constraints with a malformed part are kept: they still apply if the rule about malformed extensions is allowed.
    private mutating func readNameConstraints(_ der: DER) throws(DERError) {
        let constraints = try NameConstraints(der)
        nameConstraints = constraints
        guard constraints.isProper else { throw DERError() }
    }

    /// A SEQUENCE with at least one element, the form of most extensions.
    private static func nonEmpty(_ der: DER) throws(DERError) -> DER.Element {
        let list = try der.root(DER.Tag.sequence)
        guard !list.content.isEmpty, der.isStrict(list) else { throw DERError() }
        return list
    }

    private static func basicConstraints(_ der: DER) throws(DERError) -> BasicConstraints {
        let list = try der.root(DER.Tag.sequence)
        guard der.isStrict(list) else { throw DERError() }
        var cursor = der.cursor(list)
        let authority = try cursor.optional(DER.Tag.boolean).map { der.content($0) }
        let length = try cursor.optional(DER.Tag.integer).map { der.content($0) }
        try cursor.end()
        guard authority != [0], length?.first.map({ $0 < 0x80 }) ?? true else { throw DERError() }
        let pathLength = length.map { $0.count > 3 ? .max : $0.reduce(0) { $0 << 8 | Int($1) } }
        return BasicConstraints(isAuthority: authority != nil, pathLength: pathLength)
    }

    private static func extendedKeyUsage(_ der: DER) throws(DERError) -> [ObjectIdentifier] {
        var purposes: [ObjectIdentifier] = []
        var cursor = der.cursor(try nonEmpty(der))
        while !cursor.isAtEnd {
            purposes.append(ObjectIdentifier(der.content(try cursor.next(DER.Tag.objectIdentifier))))
        }
        return purposes
    }

    /// An empty list is not malformed; ``ChainRule/emptySubjectAlternativeName`` covers it.
    private static func generalNames(_ der: DER) throws(DERError) -> [GeneralName] {
        var names: [GeneralName] = []
        var cursor = der.cursor(try der.root(DER.Tag.sequence))
        while !cursor.isAtEnd { names.append(GeneralName(der, try cursor.next())) }
        return names
    }

    /// Issuer and serial number are both present or both absent (RFC 5280, 4.2.1.1).
    private static func authorityKeyIdentifier(_ der: DER) throws(DERError) -> AuthorityKeyIdentifier {
        let list = try der.root(DER.Tag.sequence)
        guard der.isStrict(list) else { throw DERError() }
        var cursor = der.cursor(list)
        let key = try cursor.optional(DER.Tag.context(0))
        let issuer = try cursor.optional(DER.Tag.context(1, constructed: true))
        let serial = try cursor.optional(DER.Tag.context(2))
        try cursor.end()
        guard (issuer == nil) == (serial == nil) else { throw DERError() }
        return AuthorityKeyIdentifier(
            keyIdentifier: key.map { der.content($0) }, serialNumber: serial.map { der.content($0) })
    }

    private static func informationAccess(_ der: DER) throws(DERError) {
        var cursor = der.cursor(try nonEmpty(der))
        while !cursor.isAtEnd {
            var description = der.cursor(try cursor.next(DER.Tag.sequence))
            _ = try description.next(DER.Tag.objectIdentifier)
            guard try description.next().tag >= 0x80 else { throw DERError() }
            try description.end()
        }
    }

    private static func tlsFeatures(_ der: DER) throws(DERError) -> [Int] {
        var features: [Int] = []
        var cursor = der.cursor(try nonEmpty(der))
        while !cursor.isAtEnd {
            let number = der.content(try cursor.next(DER.Tag.integer))
            guard number.count <= 3, number[0] < 0x80 else { throw DERError() }
            features.append(number.reduce(0) { $0 << 8 | Int($1) })
        }
        return features
    }

    private static func distributionURIs(_ der: DER) throws(DERError) -> [[UInt8]] {
        var uris: [[UInt8]] = []
        var points = der.cursor(try nonEmpty(der))
        while !points.isAtEnd {
            var point = der.cursor(try points.next(DER.Tag.sequence))
            guard let name = try point.optional(DER.Tag.context(0, constructed: true)) else { continue }
            var choice = der.cursor(name)
            guard let full = try choice.optional(DER.Tag.context(0, constructed: true)) else { continue }
            for entry in try der.children(full) where entry.tag == DER.Tag.context(6) {
                uris.append(der.content(entry))
            }
        }
        return uris
    }
}

/// The bits of a key's usage (RFC 5280, 4.2.1.3).
struct KeyUsage: OptionSet, Sendable {
    let rawValue: UInt16

    static let digitalSignature = KeyUsage(rawValue: 1 << 0)
    static let certificateSigning = KeyUsage(rawValue: 1 << 5)
    static let listSigning = KeyUsage(rawValue: 1 << 6)

    init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A BIT STRING of at most nine bits; empty if none is set.
    init(_ der: DER) throws(DERError) {
        let element = try der.root(DER.Tag.bitString)
        let content = der.content(element)
        guard der.isStrict(element), content.count <= 3 else { throw DERError() }
        rawValue = content.dropFirst().enumerated().reduce(0) { bits, octet in
            (0..<8).reduce(bits) { bits, bit in
                octet.element & (0x80 >> bit) == 0 ? bits : bits | 1 << (octet.offset * 8 + bit)
            }
        }
    }
}
