internal import Synchronization

/// Whom a client shows itself to be, to a server that asks for a certificate: a chain, and the private key of its leaf.
///
/// ```swift
/// let identity = try ClientIdentity.pkcs12(file: "/etc/example/client.p12", passphrase: passphrase)
/// configuration.clientIdentities = try ClientIdentityPolicy(rules: [.init("**.example.com", identity)])
/// ```
/// Copies share one key. It lies in OpenSSL's memory alone, is wiped when the last copy goes, and is never printed:
/// descriptions and mirrors show the certificates. A file is read into memory that is wiped, too. What is given as `Data` or
/// as a passphrase is the caller's own copy, and Swift wipes neither.
public struct ClientIdentity: Sendable {
    /// Tells identities apart; copies of one have the same. Connections and TLS sessions of one never serve another.
    public struct ID: Hashable, Sendable {
        let number: UInt64

        private static let last = Atomic<UInt64>(0)

        package static func next() -> ID { ID(number: last.add(1, ordering: .relaxed).newValue) }
    }

    /// Tells this identity from others, also from one that was read from the same file.
    public let id: ID
    /// The certificates that are sent, leaf first, each followed by its issuer.
    public let chain: [Certificate]
    private let handle: ClientIdentityHandle

    /// The certificate of the key.
    public var certificate: Certificate { chain[0] }

    init(_ handle: ClientIdentityHandle) {
        id = .next()
        chain = handle.certificates
        self.handle = handle
    }

    /// Calls a function with OpenSSL's certificate, key and stack of issuers, which live as long as the call.
    package func withHandles<Result>(
        _ body: (_ leaf: OpaquePointer, _ key: OpaquePointer, _ issuers: OpaquePointer) -> Result
    ) -> Result {
        withExtendedLifetime(handle) { body(handle.leaf, handle.key.pointer, handle.issuers) }
    }
}

extension ClientIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Who it is, by the certificate's subject and serial number.
    public var description: String {
        "client identity \"\(certificate.subject.oneLine)\", serial \(certificate.serialNumber)"
    }

    /// ``description``.
    public var debugDescription: String { description }

    /// The certificates' summaries, and nothing of the key.
    public var customMirror: Mirror {
        Mirror(self, children: ["chain": chain.map(\.summary)], displayStyle: .struct)
    }
}
