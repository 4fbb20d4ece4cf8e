import Testing

@testable import LinnetAuthentication

/// The examples of the RFCs.
@Suite(.timeLimit(.minutes(1)))
struct DigestExampleTests {
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let challenges = ["SHA-256", "MD5"].map {
        """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\($0), nonce="\(nonce)", opaque="\(opaque)"
        """
    }

    /// RFC 7616, section 3.9.1, answered in full.
    @Test func theStrongerOfTwoChallengesIsAnswered() throws {
        let answer = try answer(
            Self.challenges, by: .password(username: "Mufasa", password: "Circle of Life", allowsMD5: true),
            clientNonce: Self.clientNonce, uri: "/dir/index.html")
        #expect(
            answer.value == """
                Digest username="Mufasa", realm="http-auth@example.org", nonce="\(Self.nonce)", uri="/dir/index.html", \
                response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1", algorithm=SHA-256, qop=auth, \
                nc=00000001, cnonce="\(Self.clientNonce)", opaque="\(Self.opaque)"
                """)
    }

    /// RFC 7616, section 3.9.1, for a client that has MD5 alone.
    @Test func anMD5ChallengeIsAnsweredByOption() throws {
        let answer = try answer(
            [Self.challenges[1]], by: .password(username: "Mufasa", password: "Circle of Life", allowsMD5: true),
            clientNonce: Self.clientNonce, uri: "/dir/index.html")
        #expect(answer.value.contains("response=\"8ca523f5e9506fed4657c9700eebdbec\", algorithm=MD5, qop=auth"))
        let strict = try Credential.password(username: "Mufasa", password: "Circle of Life")
        #expect(ChallengeResponder(strict, for: .parse([Self.challenges[1]]), allowsBasic: true) == nil)
    }

    /// RFC 7616, section 3.9.2, with the hashes of erratum 4897.
    @Test func aUserNameIsHashed() throws {
        let clientNonce = "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v"
        let challenge = """
            Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, \
            nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", \
            opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=true
            """
        let credential = try Credential.password(username: "Jäsøn Doe", password: "Secret, or not?")
        let response = "3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5"
        let hashed = try answer([challenge], by: credential, clientNonce: clientNonce, uri: "/doe.json")
        #expect(
            hashed.value == """
                Digest username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b", \
                realm="api@example.org", nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", uri="/doe.json", \
                response="\(response)", algorithm=SHA-512-256, qop=auth, nc=00000001, cnonce="\(clientNonce)", \
                opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", userhash=true
                """)
        // The same without userhash: the name in its extended form (RFC 8187).
        let plain = try answer(
            [challenge.replacing(", userhash=true", with: "")], by: credential, clientNonce: clientNonce,
            uri: "/doe.json")
        #expect(plain.value.hasPrefix("Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, realm="))
        #expect(plain.value.contains("response=\"\(response)\""))
        #expect(!plain.value.contains("userhash"))
        // Without charset, a server need not read that form.
        for charset in ["", ", charset=ISO-8859-1"] {
            let other = challenge.replacing(", charset=UTF-8, userhash=true", with: charset)
            let quoted = try answer([other], by: credential, clientNonce: clientNonce, uri: "/doe.json")
            #expect(quoted.value.hasPrefix("Digest username=\"J\u{c3}\u{a4}s\u{c3}\u{b8}n Doe\", realm="))
            #expect(quoted.value.contains("response=\"\(response)\""))
        }
    }

    /// RFC 2617, section 3.5.
    @Test func aChallengeWithoutAlgorithmMeansMD5() throws {
        let answer = try answer(
            [
                """
                Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
                opaque="5ccc069c403ebaf9f0171e9517f40e41"
                """
            ], by: .password(username: "Mufasa", password: "Circle Of Life", allowsMD5: true), clientNonce: "0a4f113b",
            uri: "/dir/index.html")
        #expect(answer.value.contains("response=\"6629fae49393a05397450978507c4ef1\""))
        #expect(!answer.value.contains("algorithm"))
    }

    /// RFC 2069, section 2.4, with the response of its erratum 749.
    @Test func aChallengeWithoutQopIsAnsweredAsByRFC2069() throws {
        let answer = try answer(
            [
                """
                Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
                opaque="5ccc069c403ebaf9f0171e9517f40e41"
                """
            ], by: .password(username: "Mufasa", password: "CircleOfLife", allowsMD5: true), uri: "/dir/index.html")
        #expect(
            answer.value == """
                Digest username="Mufasa", realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", \
                uri="/dir/index.html", response="1949323746fe6a43ef61f9606e7febea", \
                opaque="5ccc069c403ebaf9f0171e9517f40e41"
                """)
    }

    /// Computed from the formulas of RFC 7616, section 3.4, with Python's hashlib.
    @Test(arguments: [
        ("SHA-256-sess", "37ee267af24547f4028469de8cff3eb2edf9261de245df38a966d356e50ad0d8"),
        ("SHA-512-256-sess", "9becd6865c971a6d04e62bf8ccdf60177a95d22f40779a0e795d3beacc876f6d"),
        ("md5-SESS", "c4e0fbe143ad42871342dfb396ea9fb6"),
    ])
    func sessionsAndBodiesAreHashed(algorithm: String, response: String) throws {
        let challenge = "Digest realm=lab, nonce=n0nce, algorithm=\(algorithm), qop=auth-int"
        let authenticator = try authenticator(
            [challenge], by: .password(username: "ada", password: "pass", allowsMD5: true), clientNonce: "cn1")
        let hasher = try DigestHasher(#require(authenticator.bodyAlgorithm))
        for part in ["hel", "lo"] { Array(part.utf8).withUnsafeBytes { hasher?.update($0) } }
        let answer = authenticator.answer(method: "POST", uri: "/a?b=1", bodyHash: hasher?.finish())
        #expect(answer.value.contains("response=\"\(response)\", algorithm=\(algorithm), qop=auth-int"))
    }
}
