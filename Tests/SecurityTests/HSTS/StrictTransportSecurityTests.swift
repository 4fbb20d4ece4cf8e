import Testing

@testable import LinnetSecurity

/// The field's syntax (RFC 6797, section 6.1).
@Suite(.timeLimit(.minutes(1)))
struct StrictTransportSecurityTests {
    @Test(arguments: [
        // The examples of section 6.2.
        ("max-age=31536000", 31_536_000, false), ("max-age=15768000 ; includeSubDomains", 15_768_000, true),
        ("max-age=\"31536000\"", 31_536_000, false), ("max-age=0", 0, false),
        ("max-age=0; includeSubDomains", 0, true),
        ("includeSubDomains;max-age=1", 1, true), ("MAX-AGE=1; INCLUDESUBDOMAINS", 1, true),
        (" ;; max-age = 1 ;\t; ", 1, false), ("max-age=1; preload; unknown=\"a;b\\\"c\"", 1, false),
        ("max-age=99999999999999999999999999", 315_360_000, false), ("max-age=000", 0, false),
        ("max-age=\"\\1\"", 1, false),
    ])
    func aConformingValueIsRead(value: String, age: Int, subdomains: Bool) throws {
        let read = try #require(StrictTransportSecurity(value))
        #expect(read.maximumAge == age)
        #expect(read.includesSubdomains == subdomains)
    }

    @Test(arguments: [
        "", ";", "includeSubDomains", "max-age", "max-age=", "max-age=\"\"", "max-age=-1", "max-age=+1", "max-age=1.5",
        "max-age=1s", "max-age=1; max-age=1", "max-age=1; includeSubDomains; includesubdomains",
        "max-age=1; includeSubDomains=1", "max-age=1; preload; preload", "max-age=1 includeSubDomains", "max-age=1, a",
        "max-age=\"1", "max-age=\"1\\", "max-age=1; =a", "max-age=1; a=", "max-age=\"1\"2", "max-age=１", "\u{0}",
    ])
    func anotherValueIsIgnored(value: String) {
        #expect(StrictTransportSecurity(value) == nil)
    }

    @Test func aLongValueIsIgnored() {
        let value = "max-age=1" + String(repeating: ";", count: 4087)
        #expect(StrictTransportSecurity(value) != nil)
        #expect(StrictTransportSecurity(value + ";") == nil)
    }
}
