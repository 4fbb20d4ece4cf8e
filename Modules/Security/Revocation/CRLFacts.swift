internal import FoundationEssentials

/// What a revocation list says (RFC 5280, 5.1), but for its entries.
struct CRLFacts: Sendable {
    /// For which certificates it is (RFC 5280, 5.2.5).
    struct Scope: Sendable {
        var isForLeavesOnly = false
        var isForAuthoritiesOnly = false
        /// Where it is published; empty when the list does not say.
        var uris: [[UInt8]] = []
    }

    let thisUpdate: Date
    let nextUpdate: Date
    let scope: Scope

    /// Fails with what is wrong.
    init(der bytes: [UInt8]) throws(CRLDefect) {
        do {
            self = try Self.read(DER(bytes: bytes))
        } catch let error as CRLDefect {
            throw error
        } catch {
            throw CRLDefect("it cannot be read as DER")
        }
    }

    private init(thisUpdate: Date, nextUpdate: Date, scope: Scope) {
        self.thisUpdate = thisUpdate
        self.nextUpdate = nextUpdate
        self.scope = scope
    }

    private static func read(_ der: DER) throws -> CRLFacts {
        var outer = der.cursor(try der.root(DER.Tag.sequence))
        var body = der.cursor(try outer.next(DER.Tag.sequence))
        let beside = der.whole(try outer.next(DER.Tag.sequence))
        _ = try outer.next(DER.Tag.bitString)
        try outer.end()
        guard try body.optional(DER.Tag.integer).map({ der.content($0) }) == [1] else {
            throw CRLDefect("it is not of version 2 (RFC 5280, 5.1.2.1)")
        }
        let signature = try CertificateFacts.algorithm(der, body.next(DER.Tag.sequence))
        guard signature.bytes == beside else {
            throw CRLDefect("its two signature algorithms differ (RFC 5280, 5.1.1.2)")
        }
        guard WeakDigest(signature) == nil else {
            throw CRLDefect("it is signed over SHA-1 or MD5 (Baseline Requirements, 7.1.3.2)")
        }
        _ = try body.next(DER.Tag.sequence)
        let thisUpdate = try date(der, body.next())
        guard let next = try body.optional(DER.Tag.utcTime) ?? body.optional(DER.Tag.generalizedTime) else {
            throw CRLDefect("it does not say when the next is due (RFC 5280, 5.1.2.5)")
        }
        let nextUpdate = try date(der, next)
        if let entries = try body.optional(DER.Tag.sequence) { try check(entries: entries, der) }
        let scope = try scope(der, body.optional(DER.Tag.context(0, constructed: true)))
        try body.end()
        return CRLFacts(thisUpdate: thisUpdate, nextUpdate: nextUpdate, scope: scope)
    }

    private static func date(_ der: DER, _ element: DER.Element) throws -> Date {
        guard let seconds = CertificateTime(der, element).seconds else { throw DERError() }
        return Date(timeIntervalSince1970: TimeInterval(seconds))
    }

    /// A critical entry is for another issuer's certificate, or of a kind that nobody knows (RFC 5280, 5.3).
    private static func check(entries: DER.Element, _ der: DER) throws {
        var cursor = der.cursor(entries)
        while !cursor.isAtEnd {
            var entry = der.cursor(try cursor.next(DER.Tag.sequence))
            _ = try entry.next(DER.Tag.integer)
            _ = try entry.next()
            guard let list = try entry.optional(DER.Tag.sequence) else { continue }
            guard try !extensions(der, list).contains(where: \.isCritical) else {
                throw CRLDefect("it has an entry with a critical extension (RFC 5280, 5.3)")
            }
        }
    }

    private static func extensions(_ der: DER, _ list: DER.Element) throws -> [CertificateFacts.Extension] {
        var extensions: [CertificateFacts.Extension] = []
        var cursor = der.cursor(list)
        while !cursor.isAtEnd {
            var entry = der.cursor(try cursor.next(DER.Tag.sequence))
            let identifier = ObjectIdentifier(der.content(try entry.next(DER.Tag.objectIdentifier)))
            let isCritical = try entry.optional(DER.Tag.boolean).map { der.content($0) == [0xFF] } ?? false
            let value = der.content(try entry.next(DER.Tag.octetString))
            extensions.append(.init(identifier: identifier, isCritical: isCritical, value: value))
        }
        return extensions
    }

    private static func scope(_ der: DER, _ element: DER.Element?) throws -> Scope {
        let number = ObjectIdentifier([0x55, 0x1D, 20])
        let extensions = try element.map { try Self.extensions(der, der.cursor($0).only(DER.Tag.sequence)) } ?? []
        guard Set(extensions.map(\.identifier)).count == extensions.count else {
            throw CRLDefect("it has an extension twice (RFC 5280, 4.2)")
        }
        guard let own = extensions.first(where: { $0.identifier == number }), !own.isCritical else {
            throw CRLDefect("it has no number, or a critical one (RFC 5280, 5.2.3)")
        }
        let point = extensions.first { $0.identifier == .issuingDistributionPoint }
        guard !extensions.contains(where: { $0.isCritical && $0.identifier != .issuingDistributionPoint }) else {
            throw CRLDefect("it has a critical extension that is not processed (RFC 5280, 5.2)")
        }
        return try point.map { try scope($0) } ?? Scope()
    }

    private static func scope(_ point: CertificateFacts.Extension) throws -> Scope {
        guard point.isCritical else { throw CRLDefect("its distribution point is not critical (RFC 5280, 5.2.5)") }
        let der = DER(bytes: point.value)
        var cursor = der.cursor(try der.root(DER.Tag.sequence))
        var scope = Scope()
        if let name = try cursor.optional(DER.Tag.context(0, constructed: true)) {
            let full = try der.cursor(name).only(DER.Tag.context(0, constructed: true))
            scope.uris = try der.children(full).filter { $0.tag == DER.Tag.context(6) }.map { der.content($0) }
            guard !scope.uris.isEmpty else { throw CRLDefect("its distribution point has no URI") }
        }
        scope.isForLeavesOnly = try cursor.optional(DER.Tag.context(1)) != nil
        scope.isForAuthoritiesOnly = try cursor.optional(DER.Tag.context(2)) != nil
        guard cursor.isAtEnd else {
            throw CRLDefect("it is for some reasons, several issuers or attributes alone, which is not processed")
        }
        return scope
    }
}

/// What is wrong with a list.
struct CRLDefect: Error {
    let text: String

    init(_ text: String) { self.text = text }
}
