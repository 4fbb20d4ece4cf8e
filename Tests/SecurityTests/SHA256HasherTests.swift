import COpenSSL
import FoundationEssentials
import Testing

@testable import LinnetSecurity

@Suite("SHA-256", .timeLimit(.minutes(1)))
struct SHA256HasherTests {
    /// The examples of FIPS 180-2, appendix B, and of no bytes.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func digestsAreThoseOfTheStandard(text: String, expected: String) {
        let hasher = SHA256Hasher()
        for character in text { hasher.update(String(character)) }
        let copy = hasher.copy()
        #expect(hasher.hexadecimalDigest == expected)
        hasher.update("x")
        #expect(hasher.hexadecimalDigest != expected)
        #expect(copy.hexadecimalDigest == expected)
        let whole = Data(text.utf8).withUnsafeBytes { SHA256Hasher.digest(of: $0) }
        #expect(whole == copy.digest)
        #expect(whole.count == 32)
    }

    /// No provider is loaded that has the property, so that OpenSSL has no SHA-256. The process must not go on with
    /// other digests.
    @Test func withoutSHA256TheProcessEnds() async {
        await #expect(processExitsWith: .failure) {
            EVP_set_default_properties(nil, "fips=yes")
            _ = SHA256Hasher().digest
        }
    }
}
