import Foundation
import LinnetAFNetworking
import LinnetSecurity
import LinnetTesting
import Testing

/// The decisions of AFNetworking's tests of the policy that do not need the system's anchors; those that do are in
/// SecurityTests, over the same decision table.
@Suite(.timeLimit(.minutes(5)))
struct PolicyExpectationTests {
    /// A certificate without an authority.
    enum Server: Sendable {
        /// For the host.
        case own
        /// For another host.
        case otherHost
        /// For no host: only the common name is the host.
        case commonNameOnly
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let mode: AFSSLPinningMode
        var isPinned = false
        var allowsInvalid = false
        var validatesDomainName = true
        var server = Server.own
        let isTrusted: Bool

        var testDescription: String {
            "\(mode) pinned: \(isPinned) invalid: \(allowsInvalid) name: \(validatesDomainName) \(server)"
        }
    }

    static let rows: [Row] = [
        Row(mode: .none, isTrusted: false),
        Row(mode: .none, isPinned: true, isTrusted: false),
        Row(mode: .none, allowsInvalid: true, isTrusted: false),
        Row(mode: .none, isPinned: true, allowsInvalid: true, isTrusted: false),
        Row(mode: .none, allowsInvalid: true, validatesDomainName: false, isTrusted: true),
        Row(mode: .none, allowsInvalid: true, validatesDomainName: false, server: .otherHost, isTrusted: true),
        Row(mode: .publicKey, isTrusted: false),
        Row(mode: .publicKey, isPinned: true, isTrusted: false),
        Row(mode: .publicKey, allowsInvalid: true, isTrusted: false),
        Row(mode: .publicKey, isPinned: true, allowsInvalid: true, isTrusted: true),
        Row(mode: .publicKey, isPinned: true, allowsInvalid: true, server: .otherHost, isTrusted: false),
        Row(
            mode: .publicKey, isPinned: true, allowsInvalid: true, validatesDomainName: false, server: .otherHost,
            isTrusted: true),
        // Stricter than AFNetworking: a common name is no host (RFC 9525, section 2).
        Row(mode: .publicKey, isPinned: true, allowsInvalid: true, server: .commonNameOnly, isTrusted: false),
        Row(mode: .certificate, isTrusted: false),
        Row(mode: .certificate, allowsInvalid: true, isTrusted: false),
        Row(mode: .certificate, isPinned: true, allowsInvalid: true, isTrusted: true),
        Row(mode: .certificate, isPinned: true, allowsInvalid: true, server: .otherHost, isTrusted: false),
        Row(mode: .certificate, isPinned: true, allowsInvalid: true, server: .commonNameOnly, isTrusted: false),
    ]

    @Test(arguments: rows)
    func aSelfSignedServerIsTrustedAsTheTableSays(row: Row) async throws {
        let identity = try TestPKI.selfSigned { options in
            options.hosts = row.server == .own ? ["foobar.com"] : row.server == .otherHost ? ["other.example"] : []
            options.addresses = []
            if row.server == .commonNameOnly { options.commonName = "foobar.com" }
        }
        let policy = AFSecurityPolicy(
            pinningMode: row.mode,
            withPinnedCertificates: row.isPinned ? [Data(identity.certificate.derBytes)] : [])
        policy.allowInvalidCertificates = row.allowsInvalid
        policy.validatesDomainName = row.validatesDomainName
        let trust = ServerTrust(
            host: "foobar.com", port: 443, presentedChain: identity.chain.map { Data($0.derBytes) })
        #expect(await policy.evaluate(trust).isAccepted == row.isTrusted)
    }
}
