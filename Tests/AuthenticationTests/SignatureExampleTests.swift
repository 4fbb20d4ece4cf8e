import FoundationEssentials
import HTTPTypes
import LinnetMessages
import Testing

@testable import LinnetAuthentication

/// The examples of RFC 9421, sections 2.5 and 3.1, and appendices B.2 to B.4, with the keys of B.1.
@Suite(.timeLimit(.minutes(1)))
struct SignatureExampleTests {
    struct Example: Sendable {
        let label: String
        let key: ExampleKey
        let input: String
        let signature: String
        let base: String

        /// The example's message, with its signature.
        func message() throws -> SignableMessage {
            var message =
                switch label {
                case "sig-b24": SignatureExampleTests.response
                case "ttrp": try SignatureExampleTests.forwardedRequest()
                default: try SignatureExampleTests.request()
                }
            message.fields[.signatureInput] = "\(label)=\(input)"
            message.fields[.signature] = "\(label)=:\(signature):"
            return message
        }
    }

    /// The test-request.
    static func request() throws -> SignableMessage {
        SignableMessage(
            method: .post, target: try testTarget("https://example.com/foo?param=Value&Pet=dog"),
            fields: [
                .date: "Tue, 20 Apr 2021 02:07:55 GMT", .contentType: "application/json", .contentDigest: digest,
                .contentLength: "18",
            ])
    }

    /// The request of B.3, behind a proxy that terminates TLS.
    static func forwardedRequest() throws -> SignableMessage {
        let target = try testTarget("https://service.internal.example/foo?param=Value&Pet=dog")
        var message = SignableMessage(
            method: .post, target: target,
            fields: [
                .date: "Tue, 20 Apr 2021 02:07:55 GMT", .contentType: "application/json", .contentLength: "18",
            ])
        message.fields[try #require(HTTPField.Name("Client-Cert"))] = clientCertificate
        return message
    }

    static let clientCertificate =
        ":MIIBqDCCAU6gAwIBAgIBBzAKBggqhkjOPQQDAjA6MRswGQYDVQQKDBJMZXQncyBBdXRoZW50aWNhdGUxGzAZBgNVBAMMEkxBIEludGVybWVk"
        + "aWF0ZSBDQTAeFw0yMDAxMTQyMjU1MzNaFw0yMTAxMjMyMjU1MzNaMA0xCzAJBgNVBAMMAkJDMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQg"
        + "AE8YnXXfaUgmnMtOXU/IncWalRhebrXmckC8vdgJ1p5Be5F/3YC8OthxM4+k1M6aEAEFcGzkJiNy6J84y7uzo9M6NyMHAwCQYDVR0TBAIw"
        + "ADAfBgNVHSMEGDAWgBRm3WjLa38lbEYCuiCPct0ZaSED2DAOBgNVHQ8BAf8EBAMCBsAwEwYDVR0lBAwwCgYIKwYBBQUHAwIwHQYDVR0RAQ"
        + "H/BBMwEYEPYmRjQGV4YW1wbGUuY29tMAoGCCqGSM49BAMCA0gAMEUCIBHda/r1vaL6G3VliL4/Di6YK0Q6bMjeSkC3dFCOOB8TAiEAx/kH"
        + "SB4urmiZ0NX5r5XarmPk0wmuydBVoU4hBVZ1yhk=:"

    static let digest =
        "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:"
    static let responseDigest =
        "sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:"

    /// The test-response.
    static let response = SignableMessage(
        response: HTTPResponse(
            status: .ok,
            headerFields: [
                .date: "Tue, 20 Apr 2021 02:07:56 GMT", .contentType: "application/json",
                .contentDigest: responseDigest, .contentLength: "23",
            ]))

    @Test(arguments: examples)
    func aSignatureOfTheRFCIsRight(example: Example) throws {
        let verifier = MessageSignatureVerifier(try example.key.forVerifying())
        let result = try verifier.verify(example.label, of: example.message())
        #expect(result.base == example.base + "\"@signature-params\": \(example.input)")
    }

    /// Our own signatures of the same messages, which the public keys of the RFC verify.
    @Test(arguments: examples)
    func ourSignatureIsRight(example: Example) throws {
        let input = try #require(StructuredFieldParser.dictionary("a=" + example.input)?.member("a"))
        guard case .list(let list) = input else {
            Issue.record("The input is no list.")
            return
        }
        var message = try example.message()
        let base = try SignatureBase(of: message, covering: list.items.compactMap { SignatureComponent($0) }, list)
        let key = try example.key.forSigning()
        let signature = try #require(key.handle.sign(base.bytes, key.algorithm))
        // HMAC and Ed25519 are deterministic.
        let isSame = Data(signature).base64EncodedString() == example.signature
        #expect(isSame == ["sig-b25", "sig-b26"].contains(example.label))
        message.fields[.signature] = "\(example.label)=:\(Data(signature).base64EncodedString()):"
        try MessageSignatureVerifier(example.key.forVerifying()).verify(example.label, of: message)
    }

    @Test(arguments: examples)
    func aChangedMessageIsRefused(example: Example) throws {
        var message = try example.message()
        message.fields[.contentType] = "text/plain"
        message.fields[.signatureInput] = message.fields[.signatureInput]?.replacing("created=1", with: "created=2")
        let error = #expect(throws: AuthenticationError.self) {
            try MessageSignatureVerifier(example.key.forVerifying()).verify(example.label, of: message)
        }
        #expect(error?.code == .wrongSignature)
    }

    /// B.4: a field of two lines.
    @Test func severalLinesAreOneValue() throws {
        var fields: HTTPFields = [.date: "Fri, 15 Jul 2022 14:24:55 GMT"]
        fields.append(HTTPField(name: .accept, value: "application/json"))
        fields.append(HTTPField(name: .accept, value: "*/*"))
        fields[.signatureInput] =
            #"transform=("@method" "@path" "@authority" "accept");created=1618884473;keyid="test-key-ed25519""#
        fields[.signature] =
            "transform=:ZT1kooQsEHpZ0I1IjCqtQppOmIqlJPeo7DHR3SoMn0s5JZ1eRGS0A+vyYP9t/LXlh5QMFFQ6cpLt2m0pmj3NDA==:"
        let verifier = MessageSignatureVerifier(try ExampleKey.ed25519.forVerifying())
        let url = "https://example.org/demo?name1=Value1&Name2=value2"
        try verifier.verify(
            "transform", of: SignableMessage(method: .get, target: try testTarget(url), fields: fields))
        #expect(throws: AuthenticationError.self) {
            try verifier.verify(
                "transform", of: SignableMessage(method: .post, target: try testTarget(url), fields: fields))
        }
    }
}

extension SignatureExampleTests {
    static let examples = [
        Example(
            label: "sig1", key: .rsaPSS,
            input: #"("@method" "@authority" "@path" "content-digest" "content-length" "content-type")"#
                + #";created=1618884473;keyid="test-key-rsa-pss""#,
            signature: "HIbjHC5rS0BYaa9v4QfD4193TORw7u9edguPh0AW3dMq9WImrlFrCGUDih47vAxi4L2YRZ3XMJc1uOKk/J0ZmZ+wcta4"
                + "nKIgBkKq0rM9hs3CQyxXGxHLMCy8uqK488o+9jrptQ+xFPHK7a9sRL1IXNaagCNN3ZxJsYapFj+JXbmaI5rtAdSfSvzP"
                + "uBCh+ARHBmWuNo1UzVVdHXrl8ePL4cccqlazIJdC4QEjrF+Sn4IxBQzTZsL9y9TP5FsZYzHvDqbInkTNigBcE9cKOYNF"
                + "Cn4D/WM7F6TNuZO9EgtzepLWcjTymlHzK7aXq6Am6sfOrpIC49yXjj3ae6HRalVc/g==",
            base: """
                "@method": POST
                "@authority": example.com
                "@path": /foo
                "content-digest": \(digest)
                "content-length": 18
                "content-type": application/json

                """),
        Example(
            label: "ttrp", key: .p256,
            input: #"("@path" "@query" "@method" "@authority" "client-cert");created=1618884473"#
                + #";keyid="test-key-ecc-p256""#,
            signature: "xVMHVpawaAC/0SbHrKRs9i8I3eOs5RtTMGCWXm/9nvZzoHsIg6Mce9315T6xoklyy0yzhD9ah4JHRwMLOgmizw==",
            base: """
                "@path": /foo
                "@query": ?param=Value&Pet=dog
                "@method": POST
                "@authority": service.internal.example
                "client-cert": \(clientCertificate)

                """),
        Example(
            label: "sig-b21", key: .rsaPSS,
            input: #"();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd""#,
            signature: "d2pmTvmbncD3xQm8E9ZV2828BjQWGgiwAaw5bAkgibUopemLJcWDy/lkbbHAve4cRAtx31Iq786U7it++wgGxbtR"
                + "xf8Udx7zFZsckzXaJMkA7ChG52eSkFxykJeNqsrWH5S+oxNFlD4dzVuwe8DhTSja8xxbR/Z2cOGdCbzR72rgFWhzx2Vj"
                + "BqJzsPLMIQKhO4DGezXehhWwE56YCE+O6c0mKZsfxVrogUvA4HELjVKWmAvtl6UnCh8jYzuVG5WSb/QEVPnP5TmcAnLH"
                + "1g+s++v6d4s8m0gCw1fV5/SITLq9mhho8K3+7EPYTU8IU1bLhdxO5Nyt8C8ssinQ98Xw9Q==",
            base: ""),
        Example(
            label: "sig-b22", key: .rsaPSS,
            input: #"("@authority" "content-digest" "@query-param";name="Pet");created=1618884473"#
                + #";keyid="test-key-rsa-pss";tag="header-example""#,
            signature: "LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE"
                + "5qH7KT8UCMkSowOB4+ECxCmT8rtAmj/0PIXxi0A0nxKyB09RNrCQibbUjsLS/2YyFYXEu4TRJQzRw1rLEuEfY17SARYh"
                + "pTlaqwZVtR8NV7+4UKkjqpcAoFqWFQh62s7Cl+H2fjBSpqfZUJcsIk4N6wiKYd4je2U/lankenQ99PZfB4jY3I5rSV2D"
                + "SBVkSFsURIjYErOs0tFTQosMTAoxk//0RoKUqiYY8Bh0aaUEb0rQl3/XaVe4bXTugEjHSw==",
            base: """
                "@authority": example.com
                "content-digest": \(digest)
                "@query-param";name="Pet": dog

                """),
        Example(
            label: "sig-b23", key: .rsaPSS,
            input: #"("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "content-length")"#
                + #";created=1618884473;keyid="test-key-rsa-pss""#,
            signature: "bbN8oArOxYoyylQQUU6QYwrTuaxLwjAC9fbY2F6SVWvh0yBiMIRGOnMYwZ/5MR6fb0Kh1rIRASVxFkeGt683+qRp"
                + "RRU5p2voTp768ZrCUb38K0fUxN0O0iC59DzYx8DFll5GmydPxSmme9v6ULbMFkl+V5B1TP/yPViV7KsLNmvKiLJH1pFk"
                + "h/aYA2HXXZzNBXmIkoQoLd7YfW91kE9o/CCoC1xMy7JA1ipwvKvfrs65ldmlu9bpG6A9BmzhuzF8Eim5f8ui9eH8LZH8"
                + "96+QIF61ka39VBrohr9iyMUJpvRX2Zbhl5ZJzSRxpJyoEZAFL2FUo5fTIztsDZKEgM4cUA==",
            base: """
                "date": Tue, 20 Apr 2021 02:07:55 GMT
                "@method": POST
                "@path": /foo
                "@query": ?param=Value&Pet=dog
                "@authority": example.com
                "content-type": application/json
                "content-digest": \(digest)
                "content-length": 18

                """),
        Example(
            label: "sig-b24", key: .p256,
            input: #"("@status" "content-type" "content-digest" "content-length");created=1618884473"#
                + #";keyid="test-key-ecc-p256""#,
            signature: "wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==",
            base: """
                "@status": 200
                "content-type": application/json
                "content-digest": \(responseDigest)
                "content-length": 23

                """),
        Example(
            label: "sig-b25", key: .hmac,
            input: #"("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#,
            signature: "pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=",
            base: """
                "date": Tue, 20 Apr 2021 02:07:55 GMT
                "@authority": example.com
                "content-type": application/json

                """),
        Example(
            label: "sig-b26", key: .ed25519,
            input: #"("date" "@method" "@path" "@authority" "content-type" "content-length")"#
                + #";created=1618884473;keyid="test-key-ed25519""#,
            signature: "wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==",
            base: """
                "date": Tue, 20 Apr 2021 02:07:55 GMT
                "@method": POST
                "@path": /foo
                "@authority": example.com
                "content-type": application/json
                "content-length": 18

                """),
    ]
}
