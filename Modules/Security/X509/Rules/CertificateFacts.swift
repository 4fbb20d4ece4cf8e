internal import FoundationEssentials
internal import LinnetMessages

/// The fields of a certificate (RFC 5280, 4.1), read from its DER without OpenSSL and with bounded work.
///
/// The rules of a ``ChainProfile`` examine these fields; OpenSSL builds chains and verifies signatures.
struct CertificateFacts: Sendable {
    /// An undecoded extension (RFC 5280, 4.2).
    struct Extension: Sendable {
        let identifier: ObjectIdentifier
        let isCritical: Bool
        let value: [UInt8]
    }

    /// An AlgorithmIdentifier: its DER and its two fields.
    struct Algorithm: Sendable {
        let bytes: [UInt8]
        let identifier: ObjectIdentifier
        /// The parameters with their tag; nil if absent.
        let parameters: [UInt8]?
    }

    /// Whether the whole certificate is strict DER, not only the parts that are read.
    let isStrictDER: Bool
    /// The version, from 1 to 3.
    let version: Int
    /// The octets of the INTEGER.
    let serialNumber: [UInt8]
    /// The algorithm in the signed part.
    let signature: Algorithm
    /// The algorithm beside the signature.
    let outerSignature: Algorithm
    let issuer: [UInt8]
    let subject: [UInt8]
    let commonNames: [String]
    /// The number of attributes in the subject, which count towards the work of name constraints.
    let subjectAttributes: Int
    let notBefore: CertificateTime
    let notAfter: CertificateTime
    let key: KeyFacts
    let hasUniqueIdentifier: Bool
    let extensions: [Extension]
    let known: KnownExtensions

    var isSelfIssued: Bool { issuer == subject }

    init(der bytes: [UInt8]) throws(DERError) {
        let der = DER(bytes: bytes)
        // Not strictly: a profile may allow certificates that are not DER, and `isStrictDER` tells of those.
        let certificate = try der.root(DER.Tag.sequence)
        var outer = der.cursor(certificate)
        let signed = try outer.next(DER.Tag.sequence)
        outerSignature = try Self.algorithm(der, outer.next(DER.Tag.sequence))
        _ = try outer.next(DER.Tag.bitString)
        try outer.end()

        var body = der.cursor(signed)
        version = try Self.version(der, body.optional(DER.Tag.context(0, constructed: true)))
        serialNumber = der.content(try body.next(DER.Tag.integer))
        signature = try Self.algorithm(der, body.next(DER.Tag.sequence))
        issuer = der.whole(try body.next(DER.Tag.sequence))
        var validity = der.cursor(try body.next(DER.Tag.sequence))
        notBefore = CertificateTime(der, try validity.next())
        notAfter = CertificateTime(der, try validity.next())
        try validity.end()
        let name = try body.next(DER.Tag.sequence)
        subject = der.whole(name)
        (commonNames, subjectAttributes) = try Self.attributes(der, name)
        key = try KeyFacts(der, body.next(DER.Tag.sequence))
        let unique = [
            try body.optional(DER.Tag.context(1)), try body.optional(DER.Tag.context(2)),
        ]
        hasUniqueIdentifier = unique.contains { $0 != nil }
        extensions = try Self.extensions(der, body.optional(DER.Tag.context(3, constructed: true)))
        try body.end()
        known = KnownExtensions(extensions)
        isStrictDER = der.isStrict(certificate)
    }

    /// The first extension with an identifier.
    func first(_ identifier: ObjectIdentifier) -> Extension? {
        extensions.first { $0.identifier == identifier }
    }

    private static func version(_ der: DER, _ element: DER.Element?) throws(DERError) -> Int {
        guard let element else { return 1 }
        var cursor = der.cursor(element)
        let number = der.content(try cursor.next(DER.Tag.integer))
        try cursor.end()
        guard number.count == 1, number[0] <= 2 else { throw DERError() }
        return Int(number[0]) + 1
    }

    static func algorithm(_ der: DER, _ element: DER.Element) throws(DERError) -> Algorithm {
        var cursor = der.cursor(element)
        let identifier = ObjectIdentifier(der.content(try cursor.next(DER.Tag.objectIdentifier)))
        let parameters = cursor.isAtEnd ? nil : der.whole(try cursor.next())
        try cursor.end()
        return Algorithm(bytes: der.whole(element), identifier: identifier, parameters: parameters)
    }

    /// The common names of a name, and its number of attributes.
    private static func attributes(_ der: DER, _ name: DER.Element) throws(DERError) -> ([String], Int) {
        var names: [String] = []
        var count = 0
        var sets = der.cursor(name)
        while !sets.isAtEnd {
            var attributes = der.cursor(try sets.next(DER.Tag.set))
            while !attributes.isAtEnd {
                var attribute = der.cursor(try attributes.next(DER.Tag.sequence))
                let identifier = der.content(try attribute.next(DER.Tag.objectIdentifier))
                let value = try attribute.next()
                count += 1
                guard identifier == ObjectIdentifier.commonName.bytes else { continue }
                names.append(String(decoding: der.bytes[value.content], as: UTF8.self))
            }
        }
        return (names, count)
    }

    private static func extensions(_ der: DER, _ element: DER.Element?) throws(DERError) -> [Extension] {
        guard let element else { return [] }
        var wrapper = der.cursor(element)
        let list = try wrapper.next(DER.Tag.sequence)
        try wrapper.end()
        var extensions: [Extension] = []
        var cursor = der.cursor(list)
        // At least one (RFC 5280, 4.1.2.9).
        repeat {
            var entry = der.cursor(try cursor.next(DER.Tag.sequence))
            let identifier = ObjectIdentifier(der.content(try entry.next(DER.Tag.objectIdentifier)))
            let critical = try entry.optional(DER.Tag.boolean).map { der.content($0) }
            let value = der.content(try entry.next(DER.Tag.octetString))
            try entry.end()
            // FALSE is the default, which DER does not encode (X.690, 11.5).
            guard critical == nil || critical == [0xFF] else { throw DERError() }
            extensions.append(Extension(identifier: identifier, isCritical: critical != nil, value: value))
        } while !cursor.isAtEnd
        return extensions
    }
}

/// A time in a certificate (RFC 5280, 4.1.2.5).
struct CertificateTime: Sendable {
    let tag: UInt8
    let text: String
    /// Seconds since 1970; nil if the text does not have the form that RFC 5280 requires.
    let seconds: Int?

    var date: Date? { seconds.map { Date(timeIntervalSince1970: TimeInterval($0)) } }

    init(_ der: DER, _ element: DER.Element) {
        tag = element.tag
        text = String(decoding: der.bytes[element.content], as: UTF8.self)
        seconds = Self.seconds(tag, text)
    }

    private static func seconds(_ tag: UInt8, _ text: String) -> Int? {
        let isShort = tag == DER.Tag.utcTime
        guard isShort || tag == DER.Tag.generalizedTime, text.utf8.count == (isShort ? 13 : 15), text.hasSuffix("Z")
        else { return nil }
        let digits = text.utf8.dropLast().map { Int($0) - 48 }
        guard digits.allSatisfy({ (0...9).contains($0) }) else { return nil }
        let pairs = stride(from: 0, to: digits.count, by: 2).map { (index: Int) -> Int in
            digits[index] * 10 + digits[index + 1]
        }
        // Two-digit years from 50 on are in the 20th century (RFC 5280, 4.1.2.5.1).
        let year = isShort ? (pairs[0] >= 50 ? 1900 : 2000) + pairs[0] : pairs[0] * 100 + pairs[1]
        let rest = Array(pairs.suffix(5))
        guard let date = CivilDate(year: Int64(year), month: Int64(rest[0]), day: Int64(rest[1])), rest[2] < 24,
            rest[3] < 60, rest[4] < 60
        else { return nil }
        return Int(date.daysSinceEpoch) * 86_400 + rest[2] * 3600 + rest[3] * 60 + rest[4]
    }

    /// UTCTime through 2049, GeneralizedTime from 2050 on.
    var isEncodedAsRequired: Bool {
        guard let seconds else { return false }
        let beginOf2050 = CivilDate.daysSinceEpoch(year: 2050, month: 1, day: 1) * 86_400
        return (tag == DER.Tag.utcTime) == (seconds < beginOf2050)
    }
}

/// The fields of a SubjectPublicKeyInfo (RFC 5280, 4.1.2.7) that rules examine.
struct KeyFacts: Sendable {
    let algorithm: CertificateFacts.Algorithm
    /// The size of the SubjectPublicKeyInfo.
    let byteCount: Int
    /// Nil if the key is not RSA or cannot be read.
    let rsa: RSANumbers?

    /// Modulus and exponent, without the leading zero octet of a positive INTEGER.
    struct RSANumbers: Sendable {
        let modulus: [UInt8]
        let exponent: [UInt8]
        /// A small factor of the modulus, if there is one.
        let smallFactor: UInt32?

        init(modulus: [UInt8], exponent: [UInt8]) {
            self.modulus = modulus
            self.exponent = exponent
            // Longer moduli exceed the limits and are refused before rules run.
            smallFactor = modulus.count <= 1024 ? Self.smallFactor(of: modulus) : nil
        }

        var modulusBits: Int { Self.bits(modulus) }
        var exponentBits: Int { Self.bits(exponent) }

        private static func bits(_ number: [UInt8]) -> Int {
            guard let first = number.first else { return 0 }
            return number.count * 8 - first.leadingZeroBitCount
        }
    }

    init(_ der: DER, _ element: DER.Element) throws(DERError) {
        var cursor = der.cursor(element)
        algorithm = try CertificateFacts.algorithm(der, cursor.next(DER.Tag.sequence))
        let key = der.content(try cursor.next(DER.Tag.bitString))
        try cursor.end()
        byteCount = element.range.count
        let isRSA = [ObjectIdentifier.rsaEncryption, .rsaPSS].contains(algorithm.identifier)
        // The first octet of a BIT STRING is its number of unused bits.
        rsa = isRSA ? try? Self.rsa(Array(key.dropFirst())) : nil
    }

    /// RSAPublicKey (RFC 8017, A.1.1).
    private static func rsa(_ bytes: [UInt8]) throws(DERError) -> RSANumbers {
        let der = DER(bytes: bytes)
        var cursor = der.cursor(try der.root(DER.Tag.sequence))
        let modulus = try number(der, cursor.next(DER.Tag.integer))
        let exponent = try number(der, cursor.next(DER.Tag.integer))
        try cursor.end()
        return RSANumbers(modulus: modulus, exponent: exponent)
    }

    private static func number(_ der: DER, _ element: DER.Element) throws(DERError) -> [UInt8] {
        let octets = der.content(element)
        guard DER.isShortest(octets[...]), let first = octets.first, first < 0x80 else { throw DERError() }
        return first == 0 ? Array(octets.dropFirst()) : octets
    }

    /// The kind of key; nil if it is unknown.
    var kind: ChainProfile.KeyRequirements.KeyKind? {
        switch algorithm.identifier {
        case .rsaEncryption: .rsa
        case .rsaPSS: .rsaPSS
        case .ecPublicKey: curve
        case .ed25519: .ed25519
        case .ed448: .ed448
        default: nil
        }
    }

    private var curve: ChainProfile.KeyRequirements.KeyKind? {
        guard let parameters = algorithm.parameters, parameters.first == DER.Tag.objectIdentifier else { return nil }
        return switch ObjectIdentifier(Array(parameters.dropFirst(2))) {
        case .p256: .p256
        case .p384: .p384
        case .p521: .p521
        default: nil
        }
    }

    /// Whether the curve has explicit parameters (RFC 5480, 2.1.1).
    var hasExplicitCurve: Bool {
        algorithm.identifier == .ecPublicKey && algorithm.parameters?.first != DER.Tag.objectIdentifier
    }

    /// Whether the parameters are those defined for the kind of key.
    var hasProperParameters: Bool {
        switch algorithm.identifier {
        case .rsaEncryption: algorithm.parameters == [DER.Tag.null, 0]
        case .ed25519, .ed448: algorithm.parameters == nil
        // RSASSA-PSS may have parameters (RFC 4055, 1.2), and curves have rules of their own.
        default: true
        }
    }
}

extension KeyFacts.RSANumbers {
    /// The odd primes below 752 (NIST SP 800-89, 5.3.3) and their products in groups that fit into 32 bits, so that one
    /// division of the modulus serves a group.
    private static let groups: [(product: UInt32, primes: [UInt32])] = {
        let primes = (UInt32(3)..<752).filter { (number: UInt32) -> Bool in
            (UInt32(2)..<number).allSatisfy { (factor: UInt32) -> Bool in
                factor * factor > number || number % factor != 0
            }
        }
        return primes.reduce(into: []) { groups, prime in
            let last = groups.last?.product ?? .max
            let (product, overflows) = last.multipliedReportingOverflow(by: prime)
            if overflows {
                groups.append((prime, [prime]))
            } else {
                groups[groups.count - 1] = (product, groups[groups.count - 1].primes + [prime])
            }
        }
    }()

    /// A prime factor below 752; nil if there is none.
    static func smallFactor(of number: [UInt8]) -> UInt32? {
        guard let last = number.last, last & 1 == 1 else { return 2 }
        let words = words(number)
        for group in groups {
            let rest = words.reduce(UInt64(0)) { ($0 << 32 | UInt64($1)) % UInt64(group.product) }
            if let factor = group.primes.first(where: { rest % UInt64($0) == 0 }) { return factor }
        }
        return nil
    }

    private static func words(_ number: [UInt8]) -> [UInt32] {
        let padded = [UInt8](repeating: 0, count: (4 - number.count % 4) % 4) + number
        return stride(from: 0, to: padded.count, by: 4).map { index in
            padded[index..<(index + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
    }
}
