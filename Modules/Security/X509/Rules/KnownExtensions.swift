/// The decoded extensions that rules examine. Extensions that cannot be decoded are in ``malformed``.
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
    /// The number of policy mappings (RFC 5280, 4.2.1.5); nil if there are none, or if they cannot be read.
    private(set) var policyMappings: Int?
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
        // An empty list is not malformed; ``ChainRule/emptySubjectAlternativeName`` covers it.
        case .subjectAlternativeName: alternativeNames = try GeneralName.list(der, der.strictRoot(DER.Tag.sequence))
        case .nameConstraints: try readNameConstraints(der)
        case .authorityKeyIdentifier: authorityKeyIdentifier = try Self.authorityKeyIdentifier(der)
        case .subjectKeyIdentifier: subjectKeyIdentifier = try der.content(der.strictRoot(DER.Tag.octetString))
        case .authorityInformationAccess, .subjectInformationAccess: try Self.informationAccess(der)
        case .tlsFeature: tlsFeatures = try Self.tlsFeatures(der)
        case .certificatePolicies: try Self.policies(der)
        case .policyMappings: policyMappings = try Self.mappings(der)
        case .policyConstraints:
            hasPolicyConstraints = true
            try Self.policyConstraints(der)
        case .inhibitAnyPolicy:
            hasPolicyConstraints = true
            try Self.checkCount(der, der.strictRoot(DER.Tag.integer))
        case .distributionPoints: distributionURIs = try Self.distributionURIs(der)
        default: break
        }
    }

    /// The section that defines an extension; nil if the extension is not decoded.
    static func section(_ identifier: ObjectIdentifier) -> String? {
        switch identifier {
        case .authorityKeyIdentifier: "RFC 5280, 4.2.1.1"
        case .subjectKeyIdentifier: "RFC 5280, 4.2.1.2"
        case .keyUsage: "RFC 5280, 4.2.1.3"
        case .certificatePolicies: "RFC 5280, 4.2.1.4"
        case .policyMappings: "RFC 5280, 4.2.1.5"
        case .subjectAlternativeName: "RFC 5280, 4.2.1.6"
        case .basicConstraints: "RFC 5280, 4.2.1.9"
        case .nameConstraints: "RFC 5280, 4.2.1.10"
        case .policyConstraints: "RFC 5280, 4.2.1.11"
        case .extendedKeyUsage: "RFC 5280, 4.2.1.12"
        case .distributionPoints: "RFC 5280, 4.2.1.13"
        case .inhibitAnyPolicy: "RFC 5280, 4.2.1.14"
        case .authorityInformationAccess: "RFC 5280, 4.2.2.1"
        case .subjectInformationAccess: "RFC 5280, 4.2.2.2"
        case .tlsFeature: "RFC 7633, 4.1"
        default: nil
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
        let list = try der.strictRoot(DER.Tag.sequence)
        guard !list.content.isEmpty else { throw DERError() }
        return list
    }

    private static func basicConstraints(_ der: DER) throws(DERError) -> BasicConstraints {
        var cursor = der.cursor(try der.strictRoot(DER.Tag.sequence))
        let authority = try cursor.optional(DER.Tag.boolean).map { der.content($0) }
        let length = try cursor.optional(DER.Tag.integer).map { der.content($0) }
        try cursor.end()
        // FALSE is the default, which DER does not encode (X.690, 11.5).
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

    /// Issuer and serial number are both present or both absent (RFC 5280, 4.2.1.1).
    private static func authorityKeyIdentifier(_ der: DER) throws(DERError) -> AuthorityKeyIdentifier {
        var cursor = der.cursor(try der.strictRoot(DER.Tag.sequence))
        let key = try cursor.optional(DER.Tag.context(0))
        let issuer = try cursor.optional(DER.Tag.context(1, constructed: true))
        let serial = try cursor.optional(DER.Tag.context(2))
        try cursor.end()
        guard (issuer == nil) == (serial == nil) else { throw DERError() }
        if let issuer { _ = try GeneralName.list(der, issuer) }
        return AuthorityKeyIdentifier(
            keyIdentifier: key.map { der.content($0) }, serialNumber: serial.map { der.content($0) })
    }

    private static func informationAccess(_ der: DER) throws(DERError) {
        var cursor = der.cursor(try nonEmpty(der))
        while !cursor.isAtEnd {
            var description = der.cursor(try cursor.next(DER.Tag.sequence))
            _ = try description.next(DER.Tag.objectIdentifier)
            _ = try GeneralName(der, description.next())
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

    /// Policies and their qualifiers (RFC 5280, 4.2.1.4).
    private static func policies(_ der: DER) throws(DERError) {
        var cursor = der.cursor(try nonEmpty(der))
        while !cursor.isAtEnd {
            var policy = der.cursor(try cursor.next(DER.Tag.sequence))
            _ = try policy.next(DER.Tag.objectIdentifier)
            _ = try policy.optional(DER.Tag.sequence)
            try policy.end()
        }
    }

    /// The number of pairs of policies (RFC 5280, 4.2.1.5).
    private static func mappings(_ der: DER) throws(DERError) -> Int {
        var count = 0
        var cursor = der.cursor(try nonEmpty(der))
        while !cursor.isAtEnd {
            var pair = der.cursor(try cursor.next(DER.Tag.sequence))
            for _ in 0..<2 { _ = try pair.next(DER.Tag.objectIdentifier) }
            try pair.end()
            count += 1
        }
        return count
    }

    /// requireExplicitPolicy and inhibitPolicyMapping, at least one of which is present (RFC 5280, 4.2.1.11).
    private static func policyConstraints(_ der: DER) throws(DERError) {
        var cursor = der.cursor(try nonEmpty(der))
        for number in 0..<2 as Range<UInt8> {
            if let count = try cursor.optional(DER.Tag.context(number)) { try checkCount(der, count) }
        }
        try cursor.end()
    }

    /// The number of certificates after which a constraint is in force.
    private static func checkCount(_ der: DER, _ element: DER.Element) throws(DERError) {
        let octets = der.bytes[element.content]
        guard DER.isShortest(octets), let first = octets.first, first < 0x80 else { throw DERError() }
    }

    private static func distributionURIs(_ der: DER) throws(DERError) -> [[UInt8]] {
        var uris: [[UInt8]] = []
        var points = der.cursor(try nonEmpty(der))
        while !points.isAtEnd {
            var point = der.cursor(try points.next(DER.Tag.sequence))
            if let name = try point.optional(DER.Tag.context(0, constructed: true)) {
                uris += try distributionURIs(der, name)
            }
            _ = try point.optional(DER.Tag.context(1))
            if let issuer = try point.optional(DER.Tag.context(2, constructed: true)) {
                _ = try GeneralName.list(der, issuer)
            }
            try point.end()
        }
        return uris
    }

    /// The URIs in a DistributionPointName, which is a full name or one relative to the issuer's.
    static func distributionURIs(_ der: DER, _ name: DER.Element) throws(DERError) -> [[UInt8]] {
        var choice = der.cursor(name)
        let full = try choice.optional(DER.Tag.context(0, constructed: true))
        if full == nil { _ = try choice.next(DER.Tag.context(1, constructed: true)) }
        try choice.end()
        guard let full else { return [] }
        return try GeneralName.list(der, full).compactMap { name in
            if case .uri(let bytes) = name { bytes } else { nil }
        }
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
        let content = der.content(try der.strictRoot(DER.Tag.bitString))
        guard content.count <= 3 else { throw DERError() }
        rawValue = content.dropFirst().enumerated().reduce(0) { bits, octet in
            (0..<8).reduce(bits) { bits, bit in
                octet.element & (0x80 >> bit) == 0 ? bits : bits | 1 << (octet.offset * 8 + bit)
            }
        }
    }
}
