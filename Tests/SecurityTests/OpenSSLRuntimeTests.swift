import Testing

@testable import LinnetSecurity

@Suite("OpenSSL version", .timeLimit(.minutes(1)))
struct OpenSSLRuntimeTests {
    @Test func loadedVersionIsAccepted() throws {
        #expect(OpenSSLRuntime.version.hasPrefix("OpenSSL "))
        try OpenSSLRuntime.requireSupportedVersion()
    }

    @Test(arguments: [0x3000_0020, 0x3000_0130, 0x3010_0000, 0x4000_0000] as [UInt])
    func newVersionsAreAccepted(number: UInt) throws {
        try OpenSSLRuntime.require(number)
    }

    @Test(arguments: [0, 0x1010_10ff, 0x3000_0000, 0x3000_0010, 0x3000_001f] as [UInt])
    func oldVersionsAreRefused(number: UInt) {
        let error = #expect(throws: SecurityError.self) { try OpenSSLRuntime.require(number) }
        #expect(error?.code == .openSSLTooOld)
        #expect(error?.message.contains("3.0.2") == true)
    }
}
