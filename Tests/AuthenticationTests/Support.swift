import COpenSSL
import FoundationEssentials
import LinnetMessages
import Testing

@testable import LinnetAuthentication

func testOrigin(_ text: String) throws -> Origin {
    try testTarget(text).origin
}

func testTarget(_ text: String) throws -> RequestTarget {
    try RequestTarget(parsing: #require(URL(string: text)))
}

/// An authenticator with constant client nonces.
func authenticator(
    _ challenges: [String], by credential: Credential, clientNonce: String = "cn"
) throws -> ChallengeResponder {
    let authenticator = ChallengeResponder(
        credential, for: AuthenticationChallenge.parse(challenges), allowsBasic: false, makeClientNonce: { clientNonce }
    )
    return try #require(authenticator)
}

func answer(
    _ challenges: [String], by credential: Credential, clientNonce: String = "cn", uri: String = "/"
) throws -> AuthenticationAnswer {
    try authenticator(challenges, by: credential, clientNonce: clientNonce).answer(method: "GET", uri: uri)
}

extension [AuthenticationChallenge] {
    static func parse(_ values: [String]) -> Self { AuthenticationChallenge.parse(values) }
}

/// A hash in hexadecimal, by another function of OpenSSL than the library's.
func testHash(_ name: String, _ text: String) -> String {
    testHash(name, Array(text.utf8))
}

func testHash(_ name: String, _ bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: 64)
    var count = 0
    guard EVP_Q_digest(nil, name, nil, bytes, bytes.count, &digest, &count) == 1 else { return "" }
    return digest.prefix(count).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
