/// A SubjectPublicKeyInfo (RFC 5280, 4.1.2.7), as far as rules look at it.
struct KeyFacts: Sendable {
    let algorithm: CertificateFacts.Algorithm
    /// How many bytes the whole of it is.
    let byteCount: Int
    /// Nil for keys of other kinds, and for one that cannot be read.
    let rsa: RSANumbers?

    /// Modulus and exponent, without the octet that keeps them positive.
    struct RSANumbers: Sendable {
        let modulus: [UInt8]
        let exponent: [UInt8]
        /// What divides the modulus and should not.
        let smallFactor: UInt32?

        init(modulus: [UInt8], exponent: [UInt8]) {
            self.modulus = modulus
            self.exponent = exponent
            // A longer one is refused before any rule looks at it.
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

    /// What kind of key it is; nil for one of no kind that has a name here.
    var kind: KeyRequirements.KeyKind? {
        switch algorithm.identifier {
        case .rsaEncryption: .rsa
        case .rsaPSS: .rsaPSS
        case .ecPublicKey: curve
        case .ed25519: .ed25519
        case .ed448: .ed448
        default: nil
        }
    }

    private var curve: KeyRequirements.KeyKind? {
        guard let parameters = algorithm.parameters, parameters.first == DER.Tag.objectIdentifier else { return nil }
        return switch ObjectIdentifier(Array(parameters.dropFirst(2))) {
        case .p256: .p256
        case .p384: .p384
        case .p521: .p521
        default: nil
        }
    }

    /// An elliptic curve that is written out instead of named (RFC 5480, 2.1.1).
    var hasExplicitCurve: Bool {
        algorithm.identifier == .ecPublicKey && algorithm.parameters?.first != DER.Tag.objectIdentifier
    }

    /// Whether the parameters are those that belong to the kind of key.
    var hasProperParameters: Bool {
        switch algorithm.identifier {
        case .rsaEncryption: algorithm.parameters == [DER.Tag.null, 0]
        case .ed25519, .ed448: algorithm.parameters == nil
        default: true
        }
    }
}

extension KeyFacts.RSANumbers {
    /// Primes below 752 (NIST SP 800-89, 5.3.3), without 2, and their products in groups that fit into 32 bits: one
    /// division of the modulus for each group.
    private static let groups: [(product: UInt32, primes: [UInt32])] = {
        let primes = (UInt32(3)..<752).filter { number in
            (2..<number).allSatisfy { $0 * $0 > number || number % $0 != 0 }
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

    /// A factor so small that the number is no product of two large primes; nil when there is none.
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
