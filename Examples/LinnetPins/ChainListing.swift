import ExampleSupport
import FoundationEssentials
import LinnetSecurity

/// Prints chains with their pins.
struct ChainListing {
    /// One server or file.
    struct Entry: Encodable {
        struct Link: Encodable {
            var pin: PublicKeyPin
            /// Nil for a key without a certificate.
            var certificate: CertificateSummary?
            /// The hosts and addresses of the certificate.
            var names: [String]
            /// The kind of the key; nil if it is unknown.
            var key: String?
            /// False for an anchor, which the server does not send.
            var isPresented: Bool
        }

        var source: String
        var links: [Link]
        /// Whether the chain is trusted for the host; nil for files.
        var isTrusted: Bool?
        /// Why the chain is not trusted.
        var refusal: String?
    }

    let anchors: TrustAnchors
    let timeout: Duration
    let output: Output

    /// Prints the chains, and returns whether all could be read.
    func list(_ targets: [Target]) async throws -> Bool {
        var entries: [Entry] = []
        for target in targets {
            do {
                entries.append(try await entry(target))
            } catch {
                try output.complain("\(error)")
            }
        }
        try output.write(entries, text: entries.map(Self.text).joined(separator: "\n"))
        return entries.count == targets.count
    }

    private func entry(_ target: Target) async throws -> Entry {
        switch target {
        case .file(let path):
            return Entry(source: path, links: try Self.links(file: path))
        case .host(let host):
            let trust = try await ServerChain.read(host, timeout: timeout)
            return await entry(host, trust)
        }
    }

    private func entry(_ host: HostAndPort, _ trust: ServerTrust) async -> Entry {
        let presented = trust.presentedChain.compactMap { try? X509Certificate(der: $0) }
        var entry = Entry(source: host.description, links: presented.map { .init($0, isPresented: true) })
        switch await SecurityPolicy.systemTrust(anchors: anchors).evaluate(trust) {
        case .refused(let refusal): (entry.isTrusted, entry.refusal) = (false, refusal.description)
        case .accepted(let verified):
            entry.isTrusted = true
            let more = verified.chain.filter { !trust.presentedChain.contains($0) }
            entry.links += more.compactMap { try? X509Certificate(der: $0) }.map { .init($0, isPresented: false) }
        }
        return entry
    }

    private static func links(file path: String) throws -> [Entry.Link] {
        do {
            return try X509Certificate.all(contentsOfFile: path).map { .init($0, isPresented: true) }
        } catch {
            guard error.code == .invalidCertificate else { throw error }
            guard let data = try? Data(contentsOf: URL(filePath: path)), let pin = try? PublicKeyPin(key: data) else {
                throw SecurityError(
                    .invalidCertificate, "\"\(path)\" contains neither a certificate nor a key in PEM or DER.")
            }
            return [Entry.Link(pin: pin, certificate: nil, names: [], key: nil, isPresented: true)]
        }
    }

    private static func text(_ entry: Entry) -> String {
        let verdict = entry.isTrusted.map { $0 ? ": trusted" : ": not trusted: \(entry.refusal ?? "")" } ?? ""
        var lines = [OneLine.text(entry.source + verdict)]
        for (index, link) in entry.links.enumerated() {
            let name = link.certificate?.subject ?? "a key"
            let missing = link.isPresented ? "" : " (the anchor; the server does not send it)"
            lines += ["", "\(index)  " + OneLine.text(name) + missing]
            if let certificate = link.certificate { lines += details(certificate) }
            if !link.names.isEmpty { lines.append("   names   " + OneLine.text(link.names.joined(separator: ", "))) }
            if let key = link.key { lines.append("   key     \(key)") }
            lines.append(link.pin.description)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func details(_ certificate: CertificateSummary) -> [String] {
        let (start, end) = (certificate.notBefore.formatted(.iso8601), certificate.notAfter.formatted(.iso8601))
        return [
            "   issuer  \(OneLine.text(certificate.issuer))", "   serial  \(certificate.serialNumber)",
            "   valid   \(start) to \(end)",
        ]
    }
}

extension ChainListing.Entry.Link {
    fileprivate init(_ certificate: X509Certificate, isPresented: Bool) {
        self.init(
            pin: certificate.publicKeyPin, certificate: certificate.summary, names: certificate.hostNames,
            key: certificate.keyDescription, isPresented: isPresented)
    }
}
