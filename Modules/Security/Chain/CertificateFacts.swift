internal import FoundationEssentials

/// What a certificate says (RFC 5280, 4.1), read from its DER without OpenSSL and with bounded work.
///
/// The rules of a ``ChainProfile`` look at this; chains are built, and signatures verified, by OpenSSL.
struct CertificateFacts: Sendable {
    /// An extension as it stands (RFC 5280, 4.2).
    struct Extension: Sendable {
        let identifier: ObjectIdentifier
        let isCritical: Bool
        let value: [UInt8]
    }

    /// AlgorithmIdentifier, whole, and its two parts.
    struct Algorithm: Sendable {
        let bytes: [UInt8]
        let identifier: ObjectIdentifier
        /// With its tag; nil when absent.
        let parameters: [UInt8]?
    }

    /// Whether all of it is DER, not only what had to be read.
    let isStrictDER: Bool
    /// 1 to 3.
    let version: Int
    /// The INTEGER's octets.
    let serialNumber: [UInt8]
    /// As signed.
    let signature: Algorithm
    /// As written beside the signature.
    let outerSignature: Algorithm
    let issuer: [UInt8]
    let subject: [UInt8]
    let commonNames: [String]
    /// How many attributes the subject has; constraints are compared with some of them.
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

    /// The extension's first instance.
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

    /// A name's common names, and how many attributes it has.
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
        // One at least (RFC 5280, 4.1.2.9).
        repeat {
            var entry = der.cursor(try cursor.next(DER.Tag.sequence))
            let identifier = ObjectIdentifier(der.content(try entry.next(DER.Tag.objectIdentifier)))
            let critical = try entry.optional(DER.Tag.boolean).map { der.content($0) }
            let value = der.content(try entry.next(DER.Tag.octetString))
            try entry.end()
            // FALSE is the default, which DER does not write (X.690, 11.5).
            guard critical == nil || critical == [0xFF] else { throw DERError() }
            extensions.append(Extension(identifier: identifier, isCritical: critical != nil, value: value))
        } while !cursor.isAtEnd
        return extensions
    }
}

/// A moment as a certificate writes it (RFC 5280, 4.1.2.5).
struct CertificateTime: Sendable {
    let tag: UInt8
    let text: String
    /// Seconds from 1970, of a text that is written as RFC 5280 wants it; nil for others.
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
        let pairs = stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 10 + digits[$0 + 1] }
        // Of two digits, 50 and more are of the last century (RFC 5280, 4.1.2.5.1).
        let year = isShort ? (pairs[0] >= 50 ? 1900 : 2000) + pairs[0] : pairs[0] * 100 + pairs[1]
        let rest = pairs.suffix(5)
        let (month, day) = (rest[rest.startIndex], rest[rest.startIndex + 1])
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        let clock = rest.suffix(3).reduce(0) { $0 * 60 + $1 }
        return Self.days(year, month, day) * 86_400 + clock
    }

    /// UTCTime through 2049, GeneralizedTime from 2050 on.
    var isEncodedAsRequired: Bool {
        guard let seconds else { return false }
        return (tag == DER.Tag.utcTime) == (seconds < Self.days(2050, 1, 1) * 86_400)
    }

    /// Days from 1970 in the Gregorian calendar, counted in years that begin in March.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month > 2 ? year : year - 1
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
