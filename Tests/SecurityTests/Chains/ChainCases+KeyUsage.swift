import LinnetSecurity
import LinnetTesting

extension ChainCases {
    private static let (servers, clients, code) = ("1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.3")
    private static let anyPurpose = "2.5.29.37.0"

    /// Key usages.
    static let keyUsage: [ChainCase] = authoritiesUsage + serversUsage + purposes

    private static let authoritiesUsage = [
        ChainCase("an authority without a key usage", "4.2.1.3", .byRule(.missingKeyUsage)) {
            $0.authority.set("2.5.29.15", [])
        },
        ChainCase(
            "an authority whose key usage is not critical", "Baseline Requirements, 7.1.2.10.7",
            .byWebRule(.keyUsageNotCritical)
        ) {
            $0.authority.set("2.5.29.15", critical: false)
        },
        ChainCase("an authority that signs lists alone", "4.2.1.3", .refused(.invalidPurpose)) {
            $0.authority.keyUsage([0x02], unused: 1)
        },
        ChainCase("an authority that signs certificates alone", "4.2.1.3", .accepted) {
            $0.authority.keyUsage([0x04], unused: 2)
        },
        ChainCase("a root without a key usage", "6.1.1 (d)", .accepted) { $0.root.set("2.5.29.15", []) },
        ChainCase("a root that signs lists alone", "4.2.1.3", .refused(.invalidPurpose)) {
            $0.root.keyUsage([0x02], unused: 1)
        },
        ChainCase("an authority that is none", "4.2.1.9", .refused(.invalidPurpose)) {
            $0.authority.set("2.5.29.19", critical: true, ASN1.sequence())
        },
        ChainCase(
            "an authority without basic constraints", "6.1.4 (k)",
            .refused(.missingBasicConstraints, lenient: .invalidPurpose)
        ) {
            $0.authority.set("2.5.29.19", [])
        },
        ChainCase(
            "an authority whose basic constraints are not critical", "4.2.1.9", .byRule(.basicConstraintsNotCritical)
        ) {
            $0.authority.set("2.5.29.19", critical: false)
        },
    ]

    private static let serversUsage = [
        ChainCase("a server without a key usage", "4.2.1.3", .accepted) { $0.leaf.set("2.5.29.15", []) },
        ChainCase("a server whose key usage is not critical", "4.2.1.3", .accepted) {
            $0.leaf.set("2.5.29.15", critical: false)
        },
        ChainCase("a server that enciphers keys alone", "RFC 8446, 4.4.2.2", .byRule(.leafKeyUsage)) {
            $0.leaf.keyUsage([0x20], unused: 5)
        },
        ChainCase("a server that signs and enciphers keys", "4.2.1.3", .accepted) {
            $0.leaf.keyUsage([0xA0], unused: 5)
        },
        ChainCase("a server that signs certificates", "4.2.1.9", .byRule(.certificateSigningWithoutAuthority)) {
            $0.leaf.keyUsage([0x84], unused: 2)
        },
        ChainCase("a key usage without a bit", "4.2.1.3", .refused(.emptyKeyUsage, lenient: .unknownAuthority)) {
            $0.leaf.set("2.5.29.15", ASN1.bitString([]))
        },
        ChainCase("a server without basic constraints", "4.2.1.9", .accepted) { $0.leaf.set("2.5.29.19", []) },
        ChainCase("a server that is an authority", "Baseline Requirements, 7.1.2.7.8", .byWebRule(.leafIsAuthority)) {
            $0.leaf.set("2.5.29.19", ASN1.sequence(ASN1.yes))
        },
    ]

    private static let purposes = [
        ChainCase(
            "a server without purposes", "Baseline Requirements, 7.1.2.7.10", .byWebRule(.missingExtendedKeyUsage)
        ) {
            $0.leaf.set("2.5.29.37", [])
        },
        ChainCase("a server for servers and clients", "4.2.1.12", .accepted) { $0.leaf.purposes(servers, clients) },
        ChainCase("a server for clients", "4.2.1.12", .refused(.invalidPurpose)) { $0.leaf.purposes(clients) },
        ChainCase("a server for anything", "4.2.1.12", .refused(.invalidPurpose)) { $0.leaf.purposes(anyPurpose) },
        ChainCase(
            "a server for servers and anything", "Baseline Requirements, 7.1.2.7.10", .byWebRule(.anyExtendedKeyUsage)
        ) {
            $0.leaf.purposes(servers, anyPurpose)
        },
        ChainCase(
            "a server for servers and code", "Baseline Requirements, 7.1.2.7.10", .byWebRule(.mixedExtendedKeyUsage)
        ) {
            $0.leaf.purposes(servers, code)
        },
        ChainCase(
            "a server with critical purposes", "Baseline Requirements, 7.1.2.7.6",
            .byWebRule(.extensionShouldNotBeCritical)
        ) {
            $0.leaf.purposes(servers, critical: true)
        },
        ChainCase("a server with an empty list of purposes", "4.2.1.12", .refused(.invalidPurpose)) {
            $0.leaf.purposes()
        },
        ChainCase("a server of Netscape's purpose", "4.2.1.12", .byRule(.missingServerAuthentication)) {
            $0.leaf.purposes("2.16.840.1.113730.4.1")
        },
        ChainCase("an authority for servers", "4.2.1.12", .accepted) { $0.authority.purposes(servers) },
        ChainCase("an authority for clients", "4.2.1.12", .refused(.invalidPurpose)) { $0.authority.purposes(clients) },
    ]
}
