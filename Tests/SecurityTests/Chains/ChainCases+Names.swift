import LinnetSecurity
import LinnetTesting

extension ChainCases {
    /// Host names of certificates.
    static let names: [ChainCase] = [
        ChainCase("the host", "4.2.1.6", .accepted),
        ChainCase("the host in other letters", "4.2.1.6", .accepted) { $0.leaf.name(["WWW.Example.COM"]) },
        ChainCase("the host with a dot at its end, asked for", "RFC 9525, 6.3", .accepted) {
            $0.host = "www.example.com."
        },
        ChainCase("another host", "RFC 9525, 6.3", .refused(.hostnameMismatch)) { $0.leaf.name(["www.example.org"]) },
        ChainCase("the domain above", "RFC 9525, 6.3", .refused(.hostnameMismatch)) { $0.leaf.name(["example.com"]) },
        ChainCase("one of many", "4.2.1.6", .accepted) { $0.leaf.name(["a.example", "b.example", "www.example.com"]) },
        ChainCase("a wildcard", "RFC 9525, 6.3", .accepted) { $0.leaf.name(["*.example.com"]) },
        ChainCase("a wildcard for two labels", "RFC 9525, 6.3", .refused(.hostnameMismatch)) {
            ($0.host, $0.leaf) = ("a.www.example.com", .server(hosts: ["*.example.com"]))
        },
        ChainCase("a wildcard for no label", "RFC 9525, 6.3", .refused(.hostnameMismatch)) {
            ($0.host, $0.leaf) = ("example.com", .server(hosts: ["*.example.com"]))
        },
        ChainCase("a wildcard of a top level", "RFC 9525, 6.3", .refused(.hostnameMismatch)) {
            ($0.host, $0.leaf) = ("example.com", .server(hosts: ["*.com"]))
        },
        ChainCase("a wildcard in a label", "RFC 9525, 6.3", .refused(.hostnameMismatch)) {
            $0.leaf.name(["w*.example.com"])
        },
        ChainCase("a wildcard in the middle", "RFC 9525, 6.3", .refused(.hostnameMismatch)) {
            $0.leaf.name(["www.*.com"])
        },
        ChainCase("two wildcards", "RFC 9525, 6.3", .refused(.hostnameMismatch)) { $0.leaf.name(["*.*.com"]) },
        ChainCase("a common name alone", "RFC 9525, 2", .refused(.hostnameMismatch)) { $0.leaf.set("2.5.29.17", []) },
        ChainCase("a common name beside another host", "RFC 9525, 2", .refused(.hostnameMismatch)) {
            $0.leaf.name(["other.example"])
            $0.leaf.subject = ASN1.name("www.example.com")
        },
        ChainCase("an address", "4.2.1.6", .accepted) {
            ($0.host, $0.leaf) = ("192.0.2.1", .server())
            $0.leaf.name(["localhost"], ASN1.address([192, 0, 2, 1]))
        },
        ChainCase("another address", "4.2.1.6", .refused(.hostnameMismatch)) {
            $0.host = "192.0.2.2"
            $0.leaf.name(["localhost"], ASN1.address([192, 0, 2, 1]))
        },
        ChainCase("an address of version 6", "4.2.1.6", .accepted) {
            $0.host = "2001:db8::1"
            $0.leaf.name(["localhost"], ASN1.address([0x20, 1, 0x0D, 0xB8] + Array(repeating: 0, count: 11) + [1]))
        },
        ChainCase("an address as a host", "4.2.1.6", .refused(.hostnameMismatch)) {
            ($0.host, $0.leaf) = ("192.0.2.1", .server(hosts: ["192.0.2.1"]))
        },
        ChainCase("an address of five octets beside the host", "4.2.1.6", .byRule(.addressSyntax)) {
            $0.leaf.alsoName(ASN1.address([1, 2, 3, 4, 5]))
        },
        ChainCase("an underscore", "4.2.1.6", .byRule(.dnsNameUnderscore)) {
            ($0.host, $0.leaf) = ("a_b.example.com", .server(hosts: ["a_b.example.com"]))
        },
        ChainCase("a dot at the end of another name", "4.2.1.6", .byRule(.dnsNameSyntax)) {
            $0.leaf.alsoName(ASN1.host("other.example."))
        },
        ChainCase("a label of 64 beside the host", "4.2.1.6", .byRule(.dnsNameSyntax)) {
            $0.leaf.alsoName(ASN1.host(String(repeating: "a", count: 64) + ".example"))
        },
        ChainCase("a URL beside the host", "4.2.1.6", .byRule(.dnsNameSyntax)) {
            $0.leaf.alsoName(ASN1.host("https://example.com"))
        },
        ChainCase("a NUL behind the host", "4.2.1.6", .refused(.hostnameMismatch)) {
            $0.leaf.name(["www.example.com\0.evil.example"])
        },
        ChainCase(
            "a wildcard in a label beside the host", "Baseline Requirements, 7.1.2.7.12", .byWebRule(.wildcardPlacement)
        ) {
            $0.leaf.alsoName(ASN1.host("f*o.example.com"))
        },
        ChainCase(
            "a wildcard of a top level beside the host", "Baseline Requirements, 3.2.2.6",
            .byWebRule(.wildcardOfTopLevel)
        ) {
            $0.leaf.alsoName(ASN1.host("*.com"))
        },
        ChainCase("a reserved label beside the host", "Baseline Requirements, 7.1.2.7.12", .byWebRule(.reservedLabel)) {
            $0.leaf.alsoName(ASN1.host("ab--c.example.com"))
        },
        ChainCase("a common name that is no name", "Baseline Requirements, 7.1.4.3", .byWebRule(.commonNameNotInNames))
        {
            $0.leaf.subject = ASN1.name("Example API")
        },
        ChainCase(
            "no host, where none is asked for", "Baseline Requirements, 7.1.2.7.12",
            .byWebRule(.missingSubjectAlternativeName)
        ) {
            $0.host = nil
            $0.leaf.set("2.5.29.17", [])
        },
        ChainCase(
            "a mail address alone, where no host is asked for", "Baseline Requirements, 7.1.2.7.12",
            .byWebRule(.missingSubjectAlternativeName)
        ) {
            $0.host = nil
            $0.leaf.set("2.5.29.17", ASN1.sequence(Part.mail("a@example.com")))
        },
        ChainCase("an empty list of names", "4.2.1.6", .byRule(.emptySubjectAlternativeName)) {
            $0.host = nil
            $0.leaf.set("2.5.29.17", ASN1.sequence())
        },
        ChainCase("critical names beside a subject", "4.2.1.6", .byWebRule(.criticalSubjectAlternativeName)) {
            $0.leaf.set("2.5.29.17", critical: true)
        },
        ChainCase("no subject, and critical names", "4.2.1.6", .accepted) {
            $0.leaf.subject = ASN1.name(nil)
            $0.leaf.set("2.5.29.17", critical: true)
        },
        ChainCase("no subject, and names that are not critical", "4.2.1.6", .byRule(.subjectAlternativeNameCriticality))
        {
            $0.leaf.subject = ASN1.name(nil)
        },
        ChainCase(
            "neither a subject nor names", "4.1.2.6",
            .refused(
                default: .subjectAlternativeNameCriticality, strict: .missingSubjectAlternativeName)
        ) {
            $0.host = nil
            $0.leaf.subject = ASN1.name(nil)
            $0.leaf.set("2.5.29.17", [])
        },
    ]
}
