// Testable: Authentication
import FoundationEssentials
import LinnetMessages

@testable import LinnetAuthentication

/// Answers the input's Digest challenges, one field a line before an empty line, and reads the rest as
/// Authentication-Info. An answer can be sent in a field, and contains the challenge's realm and nonce.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDigest(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: data, count: count), as: UTF8.self)
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).prefix(32).map(String.init)
    let end = lines.firstIndex(of: "") ?? lines.endIndex
    let info = Array(lines[end...])
    lines.removeSubrange(end...)
    let challenges = AuthenticationChallenge.parse(lines)
    for allowsMD5 in [false, true] {
        let name = "Jäsøn \"Doe\\"
        guard let credential = try? Credential.password(username: name, password: "pass", allowsMD5: allowsMD5),
            let authenticator = ChallengeResponder(
                credential, for: challenges, allowsBasic: false, makeClientNonce: { "cn" })
        else { continue }
        let answer = authenticator.answer(method: "GET", uri: "/a?\"b\"", bodyHash: nil)
        check(answer.value, challenges)
        try? answer.verify(info)
        check(authenticator.answer(method: "GET", uri: "/", bodyHash: nil).value, challenges)
        if let renewed = authenticator.renewed(by: challenges, after: answer) {
            check(renewed.answer(method: "GET", uri: "/", bodyHash: nil).value, challenges)
        }
    }
    return 0
}

private func check(_ value: String, _ challenges: [AuthenticationChallenge]) {
    guard !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
        fatalError("A field cannot contain \(value).")
    }
    let parsed = AuthenticationChallenge.parse(isoLatin1: [value])
    guard parsed.count == 1, let answer = parsed.first, answer.scheme == "digest",
        challenges.contains(where: { $0.realm == answer.realm }), answer.parameters["response"] != nil
    else { fatalError("\(value) does not answer \(challenges).") }
}
