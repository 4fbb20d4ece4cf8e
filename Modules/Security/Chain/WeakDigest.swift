/// Why what is signed by an algorithm proves little: the digest can be forged, or cannot be told.
enum WeakDigest: Sendable {
    /// MD5, or one that is older (RFC 6151, 2).
    case md5
    case sha1
    /// The parameters of RSASSA-PSS name a digest that cannot be read.
    case unreadable

    /// Nil for an algorithm over another digest, be it known or not.
    init?(_ algorithm: CertificateFacts.Algorithm) {
        guard algorithm.identifier == .rsaPSS else {
            guard let weak = Self.named[algorithm.identifier] else { return nil }
            self = weak
            return
        }
        // The digest of RSASSA-PSS stands in its parameters.
        guard let digest = try? Self.digest(algorithm.parameters) else {
            self = .unreadable
            return
        }
        switch digest {
        case .sha1: self = .sha1
        case .md5: self = .md5
        default: return nil
        }
    }

    /// SHA-1 is the default, and stays so (RFC 4055, 3.1).
    private static func digest(_ parameters: [UInt8]?) throws(DERError) -> ObjectIdentifier {
        guard let parameters else { return .sha1 }
        let der = DER(bytes: parameters)
        var cursor = der.cursor(try der.root(DER.Tag.sequence))
        guard let hash = try cursor.optional(DER.Tag.context(0, constructed: true)) else { return .sha1 }
        return try CertificateFacts.algorithm(der, der.cursor(hash).only(DER.Tag.sequence)).identifier
    }

    private static let named: [ObjectIdentifier: WeakDigest] = [
        pkcs1(2): .md5, pkcs1(3): .md5, pkcs1(4): .md5, pkcs1(5): .sha1,
        ObjectIdentifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x01]): .sha1,
        ObjectIdentifier([0x2A, 0x86, 0x48, 0xCE, 0x38, 0x04, 0x03]): .sha1,
        ObjectIdentifier([0x2B, 0x0E, 0x03, 0x02, 0x1D]): .sha1,
    ]

    private static func pkcs1(_ number: UInt8) -> ObjectIdentifier {
        ObjectIdentifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, number])
    }
}
