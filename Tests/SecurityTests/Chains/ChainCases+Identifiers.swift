import LinnetSecurity
import LinnetTesting

extension ChainCases {
    private static func keyIdentifier(_ octets: [UInt8]) -> [UInt8] { ASN1.sequence(ASN1.value(0x80, octets)) }

    private static func issuer(_ name: String, _ serial: [UInt8]) -> [UInt8] {
        ASN1.sequence(ASN1.value(0xA1, ASN1.value(0xA4, ASN1.name(name))), ASN1.value(0x82, serial))
    }

    /// Serial numbers, versions, names and the identifiers of keys.
    static let identifiers: [ChainCase] = serialNumbers + keys + anchors

    private static let serialNumbers = [
        ChainCase("a serial number of 20 octets", "4.1.2.2", .accepted) {
            $0.leaf.serialNumber = [0x7F] + Array(repeating: 1, count: 19)
        },
        ChainCase("a serial number of 21 octets", "4.1.2.2", .byRule(.serialNumber)) {
            $0.leaf.serialNumber = Array(repeating: 1, count: 21)
        },
        ChainCase("the serial number 0", "4.1.2.2", .byRule(.serialNumber)) { $0.leaf.serialNumber = [0] },
        ChainCase("a negative serial number", "4.1.2.2", .byRule(.serialNumber)) { $0.leaf.serialNumber = [0x80, 1] },
        ChainCase("an authority's negative serial number", "4.1.2.2", .byRule(.serialNumber)) {
            $0.authority.serialNumber = [0x80, 1]
        },
        ChainCase("a root's serial number 0", "6.1.1 (d)", .accepted) { $0.root.serialNumber = [0] },
        ChainCase("version 2", "4.1.2.1", .byRule(.certificateVersion)) { $0.leaf.version = 1 },
        ChainCase("a unique identifier", "4.1.2.8", .byRule(.uniqueIdentifier)) {
            $0.leaf.uniqueIdentifiers = ASN1.value(0x82, [0, 1, 2])
        },
        ChainCase("an extension twice", "4.2", .byRule(.duplicateExtension)) {
            $0.leaf.extensions += Array(repeating: .init("1.3.6.1.4.1.99999.1", ASN1.null), count: 2)
        },
        ChainCase("an unknown extension", "4.2", .accepted) {
            $0.leaf.extensions.append(.init("1.3.6.1.4.1.99999.1", ASN1.null))
        },
        ChainCase(
            "an unknown critical extension", "4.2", .refused(.unprocessedCriticalExtension, lenient: .chainInvalid)
        ) {
            $0.leaf.extensions.append(.init("1.3.6.1.4.1.99999.1", critical: true, ASN1.null))
        },
        ChainCase(
            "an authority's unknown critical extension", "4.2",
            .refused(.unprocessedCriticalExtension, lenient: .chainInvalid)
        ) { $0.authority.extensions.append(.init("1.3.6.1.4.1.99999.1", critical: true, ASN1.null)) },
        ChainCase("an authority without a name", "4.1.2.6", .byRule(.emptyIssuer)) {
            $0.authority.subject = ASN1.name(nil)
        },
    ]

    private static let keys = [
        ChainCase("a server without an authority key identifier", "4.2.1.1", .byRule(.missingAuthorityKeyIdentifier)) {
            $0.leaf.set("2.5.29.35", [])
        },
        ChainCase(
            "an authority without an authority key identifier", "4.2.1.1", .byRule(.missingAuthorityKeyIdentifier)
        ) {
            $0.authority.set("2.5.29.35", [])
        },
        ChainCase("a root without an authority key identifier", "4.2.1.1", .accepted),
        ChainCase("an authority key identifier of another key", "4.2.1.1", .refused(.unknownAuthority)) {
            $0.leaf.set("2.5.29.35", keyIdentifier([1, 2, 3]))
        },
        ChainCase("an authority key identifier without a key", "4.2.1.1", .byRule(.missingAuthorityKeyIdentifier)) {
            $0.authority.serialNumber = [7]
            $0.leaf.set("2.5.29.35", issuer("Root", [7]))
        },
        ChainCase("an issuer of another serial number", "4.2.1.1", .refused(.unknownAuthority)) {
            $0.authority.serialNumber = [7]
            $0.leaf.set("2.5.29.35", issuer("Root", [8]))
        },
        ChainCase("an issuer of another name", "4.2.1.1", .refused(.unknownAuthority)) {
            $0.authority.serialNumber = [7]
            $0.leaf.set("2.5.29.35", issuer("Another", [7]))
        },
        ChainCase(
            "a critical authority key identifier", "4.2.1.1",
            .refused(.extensionMustNotBeCritical, lenient: .chainInvalid)
        ) {
            $0.leaf.set("2.5.29.35", critical: true, ASN1.sequence())
        },
        ChainCase(
            "a critical subject key identifier", "4.2.1.2",
            .refused(.extensionMustNotBeCritical, lenient: .chainInvalid)
        ) {
            $0.leaf.set("2.5.29.14", critical: true, ASN1.octetString([1]))
        },
        ChainCase("a server without a subject key identifier", "4.2.1.2", .accepted) { $0.leaf.set("2.5.29.14", []) },
        ChainCase("an authority without a subject key identifier", "4.2.1.2", .byRule(.missingSubjectKeyIdentifier)) {
            $0.authority.set("2.5.29.14", [])
        },
    ]

    private static let anchors = [
        ChainCase("a root without basic constraints", "4.2.1.9", .byWebRule(.flawedAnchor)) {
            $0.root.set("2.5.29.19", [])
        },
        ChainCase("a root that is no authority", "4.2.1.9", .refused(.invalidPurpose)) {
            $0.root.set("2.5.29.19", ASN1.sequence())
        },
        ChainCase("a root with purposes", "Baseline Requirements, 7.1.2.1.2", .byWebRule(.flawedAnchor)) {
            $0.root.purposes("1.3.6.1.5.5.7.3.1")
        },
        ChainCase("a root that names another key", "4.2.1.1", .byWebRule(.flawedAnchor)) {
            $0.root.set("2.5.29.35", keyIdentifier([1, 2, 3]))
        },
        ChainCase("a root that names another serial number", "4.2.1.1", .byWebRule(.flawedAnchor)) {
            $0.root.set("2.5.29.35", issuer("Root", [9]))
        },
        ChainCase("a root of a negative serial number", "4.1.2.2", .byWebRule(.flawedAnchor)) {
            $0.root.serialNumber = [0x80, 1]
        },
    ]
}
