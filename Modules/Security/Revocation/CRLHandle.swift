internal import COpenSSL
internal import FoundationEssentials
internal import Synchronization

/// One reference to an OpenSSL revocation list.
final class CRLHandle: Sendable {
    // SAFETY: an X509_CRL is not changed after it was parsed, but for the order of its entries, which OpenSSL guards with
    // a lock of its own.
    nonisolated(unsafe) let pointer: OpaquePointer
    let facts: CRLFacts
    /// Which keys it is signed with, and which not: a long list is not hashed anew for each chain.
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
            throw SecurityError(.invalidRevocationList, "OpenSSL does not read the revocation list.")
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

    /// Whether the authority of this name and key signed it.
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

    /// Whether a certificate of its issuer is in it.
    func lists(_ certificate: X509Handle) -> Bool {
        var entry: OpaquePointer?
        return X509_CRL_get0_by_cert(pointer, &entry, certificate.pointer) == 1
    }

    /// Whether it is meant to list this certificate, should that be revoked (RFC 5280, 6.3.3 (b)).
    func covers(_ certificate: X509Handle) -> Bool {
        guard let known = certificate.facts?.known else { return false }
        let isAuthority = known.basicConstraints?.isAuthority ?? false
        if facts.scope.isForLeavesOnly && isAuthority || facts.scope.isForAuthoritiesOnly && !isAuthority {
            return false
        }
        return facts.scope.uris.isEmpty || facts.scope.uris.contains { known.distributionURIs.contains($0) }
    }
}
