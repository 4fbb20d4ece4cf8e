internal import COpenSSL
internal import FoundationEssentials

/// A private key in OpenSSL's memory, which OpenSSL wipes when the last reference goes.
final class PrivateKeyHandle: Sendable {
    // SAFETY: not changed after it was read, and OpenSSL counts references to it with atomics.
    nonisolated(unsafe) let pointer: OpaquePointer

    /// Takes over a reference.
    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit {
        EVP_PKEY_free(pointer)
    }

    func belongs(to certificate: X509Handle) -> Bool {
        OpenSSLErrorQueue.clear()
        defer { OpenSSLErrorQueue.clear() }
        return X509_check_private_key(certificate.pointer, pointer) == 1
    }
}

/// A key with the chain of its certificate, as OpenSSL wants them.
final class ClientIdentityHandle: Sendable {
    let key: PrivateKeyHandle
    let certificates: [Certificate]
    // SAFETY: filled in init and not changed after; OpenSSL copies it when it is given to a connection.
    nonisolated(unsafe) let issuers: OpaquePointer

    var leaf: OpaquePointer { certificates[0].handle.pointer }

    /// Looks for the key's certificate among some, and for its issuers among the others.
    ///
    /// Fails with ``SecurityError/Code/keyMismatch`` when the key has none, and for a certificate that is out of date.
    init(key: PrivateKeyHandle, certificates: [Certificate], at time: Date) throws(SecurityError) {
        guard let leaf = certificates.first(where: { key.belongs(to: $0.handle) }) else {
            throw SecurityError(.keyMismatch, Self.mismatch(certificates))
        }
        try Self.requireValid(leaf, at: time)
        guard let issuers = linnet_sk_X509_new_null() else {
            throw SecurityError(.openSSLFailed, "OpenSSL has no memory for a chain.")
        }
        self.issuers = issuers
        self.key = key
        self.certificates = Self.chain(from: leaf, among: certificates)
        for certificate in self.certificates.dropFirst() {
            guard linnet_sk_X509_push(issuers, certificate.handle.pointer) > 0 else {
                throw SecurityError(.openSSLFailed, "OpenSSL has no memory for a chain.")
            }
        }
    }

    deinit {
        // The certificates' handles own what lies in it.
        linnet_sk_X509_free(issuers)
    }

    private static func mismatch(_ certificates: [Certificate]) -> String {
        guard let first = certificates.first else { return "There is no certificate for the key." }
        return certificates.count == 1
            ? "The private key is not that of the certificate \"\(first.subject.oneLine)\"."
            : "The private key is that of none of the \(certificates.count) certificates."
    }

    private static func requireValid(_ leaf: Certificate, at time: Date) throws(SecurityError) {
        let name = "The client's certificate \"\(leaf.subject.oneLine)\""
        guard time <= leaf.notAfter else {
            throw SecurityError(.identityExpired, "\(name) expired on \(leaf.notAfter.formatted(.iso8601)).")
        }
        guard time >= leaf.notBefore else {
            throw SecurityError(
                .identityNotYetValid, "\(name) is valid from \(leaf.notBefore.formatted(.iso8601)); is the clock right?"
            )
        }
    }

    /// From the leaf upwards. A root is left out (RFC 8446, 4.4.2): whoever trusts it has it.
    private static func chain(from leaf: Certificate, among certificates: [Certificate]) -> [Certificate] {
        var chain = [leaf]
        while chain.count < ChainLimits.certificates, let last = chain.last, last.issuer != last.subject,
            let issuer = certificates.first(where: { candidate in
                !chain.contains(candidate) && candidate.issuer != candidate.subject
                    && candidate.handle.issued(last.handle)
            })
        {
            chain.append(issuer)
        }
        return chain
    }
}
