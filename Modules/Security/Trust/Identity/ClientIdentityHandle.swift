internal import COpenSSL
internal import FoundationEssentials
internal import LinnetMessages

/// A private key in OpenSSL's memory, which OpenSSL wipes when the last reference is released.
final class PrivateKeyHandle: Sendable {
    // SAFETY: not modified after it was read; OpenSSL counts references with atomics.
    nonisolated(unsafe) let pointer: OpaquePointer

    /// Takes ownership of a reference.
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

/// A key and the chain of its certificate in the form that OpenSSL takes.
final class ClientIdentityHandle: Sendable {
    let key: PrivateKeyHandle
    let certificates: [X509Certificate]
    // SAFETY: filled in init and not modified later; OpenSSL copies it when it is set on a connection.
    nonisolated(unsafe) let issuers: OpaquePointer

    var leaf: OpaquePointer { certificates[0].handle.pointer }

    /// Finds the key's certificate and its issuers.
    ///
    /// - Throws: ``SecurityError/Code/keyMismatch`` if the key has no certificate,
    ///   ``SecurityError/Code/identityExpired`` or ``SecurityError/Code/identityNotYetValid``.
    init(key: PrivateKeyHandle, certificates: [X509Certificate], at time: Date) throws(SecurityError) {
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
        // The handles own the certificates.
        linnet_sk_X509_free(issuers)
    }

    private static func mismatch(_ certificates: [X509Certificate]) -> String {
        guard let first = certificates.first else { return "No certificate was given for the private key." }
        return certificates.count == 1
            ? "The private key does not match the certificate \"\(first.subject.oneLine)\"."
            : "The private key matches none of the \(certificates.count) certificates."
    }

    private static func requireValid(_ leaf: X509Certificate, at time: Date) throws(SecurityError) {
        let name = "The client certificate \"\(leaf.subject.oneLine)\""
        guard time <= leaf.notAfter else {
            throw SecurityError(.identityExpired, "\(name) expired on \(leaf.notAfter.formatted(.iso8601)).")
        }
        guard time >= leaf.notBefore else {
            throw SecurityError(
                .identityNotYetValid,
                "\(name) is not valid before \(leaf.notBefore.formatted(.iso8601)); check the clock."
            )
        }
    }

    /// The chain from the leaf upwards, without the root, which the server has (RFC 8446, 4.4.2).
    private static func chain(from leaf: X509Certificate, among certificates: [X509Certificate]) -> [X509Certificate] {
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
