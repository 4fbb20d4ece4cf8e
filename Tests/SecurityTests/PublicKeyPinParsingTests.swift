import FoundationEssentials
import LinnetSecurity
import Testing

@Suite("Pins as text", .timeLimit(.minutes(1)))
struct PublicKeyPinParsingTests {
    private static let zeros = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    @Test(arguments: [
        zeros, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "//////////////////////////////////////////8=",
    ])
    func pinRoundTripsThroughItsText(base64: String) throws {
        let pin = try PublicKeyPin("sha256/" + base64)
        #expect(pin.digest == Data(base64Encoded: base64))
        #expect(pin.digest.count == 32)
        #expect(pin.description == "sha256/" + base64)
        #expect(try PublicKeyPin(pin.description) == pin)
    }

    @Test(arguments: [
        "", "sha256", "sha256/", "sha256/=", zeros,
        "sha1/" + zeros, "SHA256/" + zeros, "sha256:" + zeros, "sha256//" + zeros, "sha256-" + zeros,
        "pin-sha256=\"\(zeros)\"",
        // 31, 33 and 20 bytes.
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==", "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        // Padding.
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "sha256/\(zeros)=", "sha256/\(zeros)\(zeros)",
        // White space, and other bytes.
        " sha256/" + zeros, "sha256/ " + zeros, "sha256/\(zeros) ", "sha256/\(zeros)\n",
        "sha256/AAAAAAAAAAAAAAAAAAAAA\nAAAAAAAAAAAAAAAAAAAAAA=", "sha256/\(zeros)\0",
        "sha256/\u{301}" + zeros, "sha256/" + String(repeating: "é", count: 43) + "=",
        // The URL-safe alphabet, and hexadecimal.
        "sha256/47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU=",
        "sha256/e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        // Bits after the last byte (RFC 4648, 3.5).
        "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=",
    ])
    func invalidPinsAreRefused(text: String) {
        let error = #expect(throws: SecurityError.self) { try PublicKeyPin(text) }
        #expect(error?.code == .invalidPin)
    }

    @Test func errorMessageContainsTheText() {
        let error = #expect(throws: SecurityError.self) { try PublicKeyPin("md5/zzz") }
        #expect(error?.message.contains("md5/zzz") == true)
        #expect(error?.description == error?.message && error?.message.hasSuffix(".") == true)
    }
}
