internal import COpenSSL
internal import FoundationEssentials
internal import Synchronization

/// A reference to an OpenSSL revocation list.
final class CRLHandle: Sendable {
    // SAFETY: an X509_CRL is not modified after parsing, except for the order of its entries, which OpenSSL guards with
    // a lock.
    nonisolated(unsafe) let pointer: OpaquePointer
    let facts: CRLFacts
    /// The results of signature checks by key, so that a long list is not hashed for each chain.
    private let signers = Mutex<[PublicKeyPin: Bool]>([:])

    init(der: Data) throws(SecurityError) {
        do {
            facts = try CRLFacts(der: [UInt8](der))
        } catch {
            throw SecurityError(.invalidRevocationList, "The revocation list cannot be used: \(error.text).")
        }
        OpenSSLErrorQueue.clear()
        let parsed = der.withUnsafeBytes { bytes -> OpaquePointer? in
            var position = bytes.bindMemory(to: UInt8.self).baseAddress
            return d2i_X509_CRL(nil, &position, bytes.count)
        }
        OpenSSLErrorQueue.clear()
        guard let parsed else {
            throw SecurityError(.invalidRevocationList, "OpenSSL cannot read the revocation list.")
        }
        pointer = parsed
    }

    deinit {
        X509_CRL_free(pointer)
    }

    var issuer: String {
        guard let name = X509_CRL_get_issuer(pointer) else { return "" }
        return OpenSSLText.written { X509_NAME_print_ex($0, name, 0, LINNET_NAME_FLAGS) >= 0 }
    }

    /// Whether an authority, by name and key, signed the list.
    func isSigned(by authority: X509Handle) -> Bool {
        guard X509_NAME_cmp(X509_CRL_get_issuer(pointer), X509_get_subject_name(authority.pointer)) == 0 else {
            return false
        }
        if let known = signers.withLock({ $0[authority.pin] }) { return known }
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        let isSigned = X509_get0_pubkey(authority.pointer).map { X509_CRL_verify(pointer, $0) == 1 } ?? false
        signers.withLock { signers in
            if signers.count >= 16 { signers.removeAll() }
            signers[authority.pin] = isSigned
        }
        return isSigned
    }

    /// Whether the list contains a certificate of its issuer, with whichever reason.
    func lists(_ certificate: X509Handle) -> Bool {
        var entry: OpaquePointer?
        return X509_CRL_get0_by_cert(pointer, &entry, certificate.pointer) != 0
    }

    /// Whether a certificate is in the scope of the list (RFC 5280, 6.3.3 (b)).
    func covers(_ certificate: X509Handle) -> Bool {
        guard let known = certificate.facts?.known else { return false }
        let isAuthority = known.basicConstraints?.isAuthority ?? false
        if facts.scope.isForLeavesOnly && isAuthority || facts.scope.isForAuthoritiesOnly && !isAuthority {
            return false
        }
        return facts.scope.uris.isEmpty || facts.scope.uris.contains { known.distributionURIs.contains($0) }
    }
}

/// The fields of a revocation list (RFC 5280, 5.1), without its entries.
struct CRLFacts: Sendable {
    /// The scope of a list (RFC 5280, 5.2.5).
    struct Scope: Sendable {
        var isForLeavesOnly = false
        var isForAuthoritiesOnly = false
        /// The distribution point's URIs; empty if the list has none.
        var uris: [[UInt8]] = []
    }

    let thisUpdate: Date
    let nextUpdate: Date
    let scope: Scope

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
            throw CRLDefect("its version is not 2 (RFC 5280, 5.1.2.1)")
        }
        let signature = try CertificateFacts.algorithm(der, body.next(DER.Tag.sequence))
        guard signature.bytes == beside else {
            throw CRLDefect("its two signature algorithms differ (RFC 5280, 5.1.1.2)")
        }
        guard WeakDigest(signature) == nil else {
            throw CRLDefect("it is signed with SHA-1 or MD5 (Baseline Requirements, 7.1.3.2)")
        }
        _ = try body.next(DER.Tag.sequence)
        let thisUpdate = try date(der, body.next())
        guard let next = try body.optional(DER.Tag.utcTime) ?? body.optional(DER.Tag.generalizedTime) else {
            throw CRLDefect("it has no nextUpdate (RFC 5280, 5.1.2.5)")
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

    /// Entries with a critical extension are for another issuer's certificate or of an unknown kind (RFC 5280, 5.3).
    private static func check(entries: DER.Element, _ der: DER) throws {
        var cursor = der.cursor(entries)
        while !cursor.isAtEnd {
            var entry = der.cursor(try cursor.next(DER.Tag.sequence))
            _ = try entry.next(DER.Tag.integer)
            _ = try entry.next()
            let list = try entry.optional(DER.Tag.sequence)
            try entry.end()
            guard let list else { continue }
            for own in try extensions(der, list) {
                guard !own.isCritical else {
                    throw CRLDefect("it has an entry with a critical extension (RFC 5280, 5.3)")
                }
                guard own.identifier == .reasonCode else { continue }
                let reason = DER(bytes: own.value)
                // removeFromCRL: OpenSSL treats the entry as absent, even beside an entry that revokes.
                guard try reason.content(reason.strictRoot(DER.Tag.enumerated)) != [8] else {
                    throw CRLDefect("it has an entry that only a delta list may have, removeFromCRL (RFC 5280, 5.3.1)")
                }
            }
        }
    }

    private static func extensions(_ der: DER, _ list: DER.Element) throws -> [CertificateFacts.Extension] {
        var extensions: [CertificateFacts.Extension] = []
        var cursor = der.cursor(list)
        while !cursor.isAtEnd {
            var entry = der.cursor(try cursor.next(DER.Tag.sequence))
            let identifier = ObjectIdentifier(der.content(try entry.next(DER.Tag.objectIdentifier)))
            let critical = try entry.optional(DER.Tag.boolean).map { der.content($0) }
            let value = der.content(try entry.next(DER.Tag.octetString))
            try entry.end()
            // FALSE is the default, which DER does not encode (X.690, 11.5). OpenSSL reads other octets as TRUE.
            guard critical == nil || critical == [0xFF] else { throw DERError() }
            extensions.append(.init(identifier: identifier, isCritical: critical != nil, value: value))
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
            throw CRLDefect("it has no CRL number, or a critical one (RFC 5280, 5.2.3)")
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
        // Its BOOLEANs have tags of their own, which say nothing about their contents: ``isSet(_:_:)`` examines them.
        var cursor = der.cursor(try der.strictRoot(DER.Tag.sequence))
        var scope = Scope()
        if let name = try cursor.optional(DER.Tag.context(0, constructed: true)) {
            scope.uris = try KnownExtensions.distributionURIs(der, name)
            guard !scope.uris.isEmpty else { throw CRLDefect("its distribution point has no URI") }
        }
        scope.isForLeavesOnly = try isSet(cursor.optional(DER.Tag.context(1)), der)
        scope.isForAuthoritiesOnly = try isSet(cursor.optional(DER.Tag.context(2)), der)
        guard cursor.isAtEnd else {
            throw CRLDefect(
                "its scope is limited to some reasons, several issuers or attribute certificates, which is not supported"
            )
        }
        return scope
    }

    /// A BOOLEAN that is FALSE if it is absent; DER has only one form of TRUE, and does not encode the default (X.690,
    /// 11.1 and 11.5).
    private static func isSet(_ boolean: DER.Element?, _ der: DER) throws -> Bool {
        guard let boolean else { return false }
        guard der.content(boolean) == [0xFF] else {
            throw CRLDefect("its distribution point has a BOOLEAN that is not DER (X.690, 11.1 and 11.5)")
        }
        return true
    }
}

/// Why a list cannot be used, as the end of a sentence.
struct CRLDefect: Error {
    let text: String

    init(_ text: String) { self.text = text }
}
