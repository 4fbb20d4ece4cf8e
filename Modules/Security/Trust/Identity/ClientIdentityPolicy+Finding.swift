public import FoundationEssentials
internal import LinnetMessages

extension ClientIdentityPolicy {
    /// A reason why servers may refuse a client certificate, now or soon.
    public struct Finding: Sendable, Hashable, CustomStringConvertible {
        /// The kind of finding. New ones may be added.
        public struct Kind: Hashable, Sendable, CustomStringConvertible {
            /// The kind's name.
            public let description: String

            private init(_ description: String) { self.description = description }

            /// A certificate has expired.
            public static let expired = Kind("expired")
            /// A certificate is not valid yet.
            public static let notYetValid = Kind("notYetValid")
            /// A certificate expires within the notice period.
            public static let expiresSoon = Kind("expiresSoon")
            /// The extended key usage does not allow client authentication (RFC 5280, 4.2.1.12).
            public static let notForClients = Kind("notForClients")
            /// The key usage does not allow signatures, which TLS requires (RFC 5280, 4.2.1.3).
            public static let notForSignatures = Kind("notForSignatures")
        }

        /// The kind of finding.
        public let kind: Kind
        /// A sentence with the finding and its remedy.
        public let message: String
        /// The certificate with the problem.
        public let certificate: CertificateSummary

        /// The kind and the message.
        public var description: String { "\(kind): \(message)" }
    }
}

extension ClientIdentity {
    /// Returns the reasons why a server may refuse the identity, beginning with the leaf's.
    ///
    /// - Parameters:
    ///   - time: The time of the check. The default is now.
    ///   - notice: How long before its expiry a certificate is reported. The default is 30 days.
    public func findings(at time: Date = Date(), expiryNotice notice: Duration = .seconds(30 * 86_400))
        -> [ClientIdentityPolicy.Finding]
    {
        chain.flatMap { Self.timeFindings($0, time, notice) } + usageFindings
    }

    private static func timeFindings(
        _ certificate: X509Certificate, _ time: Date, _ notice: Duration
    ) -> [ClientIdentityPolicy.Finding] {
        let name = "\"\(certificate.subject.oneLine)\""
        let (start, end) = (certificate.notBefore.formatted(.iso8601), certificate.notAfter.formatted(.iso8601))
        if time > certificate.notAfter { return [finding(.expired, "\(name) expired on \(end).", certificate)] }
        if time < certificate.notBefore {
            return [finding(.notYetValid, "\(name) is valid from \(start).", certificate)]
        }
        guard time.addingTimeInterval(TimeInterval(notice.components.seconds)) > certificate.notAfter else { return [] }
        return [finding(.expiresSoon, "\(name) expires on \(end); renew it.", certificate)]
    }

    private var usageFindings: [ClientIdentityPolicy.Finding] {
        guard let known = certificate.handle.facts?.known else { return [] }
        let name = "\"\(certificate.subject.oneLine)\""
        var findings: [ClientIdentityPolicy.Finding] = []
        if let usage = known.extendedKeyUsage, !usage.contains(.clientAuthentication),
            !usage.contains(.anyExtendedKeyUsage)
        {
            findings.append(
                Self.finding(
                    .notForClients, "\(name) is not for clients, according to its extended key usage.", certificate))
        }
        if let usage = known.keyUsage, !usage.contains(.digitalSignature) {
            findings.append(
                Self.finding(.notForSignatures, "\(name) may not sign, according to its key usage.", certificate))
        }
        return findings
    }

    private static func finding(
        _ kind: ClientIdentityPolicy.Finding.Kind, _ message: String, _ certificate: X509Certificate
    ) -> ClientIdentityPolicy.Finding {
        ClientIdentityPolicy.Finding(kind: kind, message: message, certificate: certificate.summary)
    }
}
