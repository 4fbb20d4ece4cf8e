import HTTPTypes
import LinnetMessages
import NIOCore
import Testing

@testable import LinnetTransport

/// The answers of proxies, without a network.
@Suite("Handshakes with proxies", .timeLimit(.minutes(1)))
struct ProxyHandshakeTests {
    private let origin: Origin
    private let credentials: Proxy

    init() throws {
        origin = try Origin(isSecure: true, authority: "origin.example")
        credentials = try Proxy(.socks5h, host: "proxy.example", username: "ada", password: "secret")
    }

    private func tunnel(authorization: String? = nil, _ limits: TransportConfiguration.ResponseLimits = .init())
        -> TunnelHandshake
    {
        var handshake = TunnelHandshake(to: origin, answer: ProxyAnswer(authorization: authorization), limits: limits)
        _ = handshake.start()
        return handshake
    }

    /// The end of a handshake that receives these bytes, in one piece or byte by byte.
    private func end(
        _ handshake: some ProxyHandshake, _ bytes: [UInt8], inPieces: Bool = false
    ) -> Result<ProxyHandshakeStep, ProxyFailure> {
        var handshake = handshake
        _ = handshake.start()
        var last = ProxyHandshakeStep.needsBytes
        for piece in inPieces ? bytes.map({ [$0] }) : [bytes] {
            if case .open(var first) = last {
                first.writeBytes(piece)
                last = .open(first)
                continue
            }
            do {
                last = try handshake.received(ByteBuffer(bytes: piece))
            } catch {
                return .failure(error)
            }
        }
        return .success(last)
    }

    private func end(_ handshake: some ProxyHandshake, _ text: String) -> Result<ProxyHandshakeStep, ProxyFailure> {
        end(handshake, Array(text.utf8))
    }

    private func expect(
        _ handshake: inout some ProxyHandshake, receiving bytes: ByteBuffer, _ expected: ProxyHandshakeStep,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let step = try handshake.received(bytes)
        #expect(step == expected, sourceLocation: sourceLocation)
    }

    // MARK: CONNECT (RFC 9110, 9.3.6)

    @Test func connectNamesTheHostAndThePort() throws {
        var plain = TunnelHandshake(to: origin, answer: ProxyAnswer(), limits: .init())
        let plainFirst = String(buffer: plain.start())
        #expect(plainFirst == "CONNECT origin.example:443 HTTP/1.1\r\nHost: origin.example:443\r\n\r\n")
        let address = try Origin(isSecure: true, authority: "[2001:db8::1]:8443")
        var asked = TunnelHandshake(to: address, answer: ProxyAnswer(authorization: "Basic x"), limits: .init())
        let askedFirst = String(buffer: asked.start())
        #expect(
            askedFirst
                == "CONNECT [2001:db8::1]:8443 HTTP/1.1\r\nHost: [2001:db8::1]:8443\r\nProxy-Authorization: Basic x\r\n\r\n"
        )
    }

    @Test(
        arguments: [
            "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 Connection established\r\n\r\n", "HTTP/1.1 204\r\n\r\n",
            // Fields about a body mean nothing here.
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        ], [false, true])
    func anySuccessOpensTheTunnelWithTheBytesBehindIt(head: String, inPieces: Bool) throws {
        let step = try end(tunnel(), Array((head + "abc").utf8), inPieces: inPieces).get()
        #expect(step == .open(ByteBuffer(string: "abc")))
    }

    @Test func aPageIsARefusalWithItsFirstBytes() throws {
        let page = String(repeating: "x", count: 5000)
        let head = "HTTP/1.1 403 Forbidden\r\nContent-Length: 5000\r\n\r\n"
        let expected = Proxy.Refusal(.init(code: 403, reasonPhrase: "Forbidden"), page: String(page.prefix(1024)))
        #expect(end(tunnel(), head + page) == .failure(.refused(expected)))
        let short = end(tunnel(), "HTTP/1.1 502 Bad\r\nContent-Length: 2\r\n\r\nno")
        #expect(short == .failure(.refused(Proxy.Refusal(.init(code: 502, reasonPhrase: "Bad"), page: "no"))))
        #expect(end(tunnel(), "HTTP/1.1 300 Choices\r\nContent-Length: 0\r\n\r\n").isFailure)
        #expect(end(tunnel(), "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n").isFailure)
        // The page may end with the connection, or not at all.
        var open = tunnel()
        try expect(&open, receiving: ByteBuffer(string: "HTTP/1.1 500 Oops\r\n\r\npage"), .needsBytes)
        #expect(open.failureAtEnd == .refused(Proxy.Refusal(.init(code: 500, reasonPhrase: "Oops"), page: "page")))
    }

    @Test func aRefusalThatRepeatsThePasswordIsRedacted() throws {
        let answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 24\r\n\r\nyou sent Basic YWRhOmI= !"
        guard case .failure(.refused(let refusal)) = end(tunnel(authorization: "Basic YWRhOmI="), answer) else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.page.isEmpty)
        #expect(refusal.status?.code == 403)
    }

    @Test func aChallengeIsReportedWithItsFields() throws {
        let answer = "HTTP/1.1 407 Auth\r\nProxy-Authenticate: Digest a=b\r\nProxy-Authenticate: Basic realm=x\r\n\r\n"
        #expect(end(tunnel(), answer) == .failure(.authentication(["Digest a=b", "Basic realm=x"])))
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/3.0 200 OK\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n", "HTTP/1.1 200 OK\nX: y\n\n",
        "\u{16}\u{3}\u{1}",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    ])
    func whatIsNotHTTPIsInvalid(answer: String) {
        guard case .failure(.invalid) = end(tunnel(), answer) else {
            Issue.record("not invalid")
            return
        }
    }

    @Test func headsAreLimited() {
        let huge = "HTTP/1.1 200 OK\r\nX: " + String(repeating: "a", count: 300_000)
        let many = "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 10_000) + "\r\n"
        let informational = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 10_000)
        for answer in [huge, many, informational] {
            guard case .failure(.invalid) = end(tunnel(), answer) else {
                Issue.record("not invalid")
                continue
            }
        }
    }

    @Test func aCutAnswerIsAnEnd() throws {
        var handshake = tunnel()
        try expect(&handshake, receiving: ByteBuffer(string: "HTTP/1.1 200 O"), .needsBytes)
        #expect(handshake.failureAtEnd == .closed)
    }

    // MARK: SOCKS 5 (RFC 1928, RFC 1929)

    private func socks(_ authority: String = "origin.example", _ proxy: Proxy? = nil) throws -> SOCKS5Handshake {
        let target = ProxyTarget(try Origin(isSecure: true, authority: authority))
        return SOCKS5Handshake(to: target, through: try proxy ?? Proxy(.socks5h, host: "proxy.example"))
    }

    @Test(
        arguments: [
            ("origin.example:258", [3, 14] + Array("origin.example".utf8) + [1, 2]),
            ("192.0.2.7:258", [1, 192, 0, 2, 7, 1, 2]),
            ("[2001:db8::7]:258", [4, 0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [7, 1, 2]),
        ] as [(String, [UInt8])])
    func theRequestCarriesNamesAndAddresses(authority: String, address: [UInt8]) throws {
        var handshake = try socks(authority)
        let first = handshake.start()
        #expect(first == ByteBuffer(bytes: [5, 1, 0]))
        try expect(&handshake, receiving: ByteBuffer(bytes: [5]), .needsBytes)
        try expect(&handshake, receiving: ByteBuffer(bytes: [0]), .send(ByteBuffer(bytes: [5, 1, 0] + address)))
    }

    @Test func aUserNameIsSentWhenItIsAskedFor() throws {
        var handshake = try socks("192.0.2.7:80", credentials)
        let first = handshake.start()
        #expect(first == ByteBuffer(bytes: [5, 2, 0, 2]))
        let login = ByteBuffer(bytes: [1, 3] + Array("ada".utf8) + [6] + Array("secret".utf8))
        try expect(&handshake, receiving: ByteBuffer(bytes: [5, 2]), .send(login))
        let request = ByteBuffer(bytes: [5, 1, 0, 1, 192, 0, 2, 7, 0, 80])
        try expect(&handshake, receiving: ByteBuffer(bytes: [1, 0]), .send(request))
    }

    @Test(
        arguments: [
            [5, 0, 0, 1, 1, 2, 3, 4, 5, 6], [5, 0, 0, 3, 2, 0x61, 0x62, 5, 6],
            [5, 0, 0, 3, 0, 5, 6], [5, 0, 0, 4] + [UInt8](repeating: 9, count: 16) + [5, 6],
        ] as [[UInt8]], [false, true])
    func anyAddressInTheReplyIsSkipped(reply: [UInt8], inPieces: Bool) throws {
        var handshake = try socks()
        _ = handshake.start()
        _ = try handshake.received(ByteBuffer(bytes: [5, 0]))
        var end = ProxyHandshakeStep.needsBytes
        let bytes = reply + Array("xyz".utf8)
        for (index, piece) in (inPieces ? bytes.map { [$0] } : [bytes]).enumerated() {
            if inPieces, index >= reply.count { break }
            #expect(end == .needsBytes)
            end = try handshake.received(ByteBuffer(bytes: piece))
        }
        #expect(end == .open(ByteBuffer(string: inPieces ? "" : "xyz")))
    }

    @Test(
        arguments: [
            ([5, 0xFF], .authentication([])), ([5, 2], .authentication([])),
            ([5, 1], .invalid("it chose a method of authentication that was not offered")),
            ([4, 0], .invalid("it is not SOCKS 5")), ([0x48], .invalid("it is not SOCKS 5")),
        ] as [([UInt8], ProxyFailure)])
    func methodsThatWereNotOfferedAreRefused(answer: [UInt8], failure: ProxyFailure) throws {
        #expect(try end(socks(), answer) == .failure(failure))
    }

    @Test func aRefusedUserNameIsReported() throws {
        var handshake = try socks("a.test", credentials)
        _ = try handshake.received(ByteBuffer(bytes: [5, 2]))
        #expect(throws: ProxyFailure.authentication([])) { try handshake.received(ByteBuffer(bytes: [1, 1])) }
        #expect(
            try end(socks("a.test", credentials), [5, 0xFF])
                == .failure(.refused(Proxy.Refusal("it does not take a user name with a password"))))
    }

    @Test(
        arguments: [
            (1, "a general failure"), (2, "its rules do not allow the connection"),
            (3, "the network cannot be reached"),
            (4, "the host cannot be reached"), (5, "the server refused the connection"),
            (6, "the time to live expired"),
            (7, "it does not support the command"), (8, "it does not support the type of address"), (9, "reply 9"),
        ] as [(UInt8, String)])
    func aRefusalHasItsReason(reply: UInt8, reason: String) throws {
        var handshake = try socks()
        _ = try handshake.received(ByteBuffer(bytes: [5, 0]))
        #expect(throws: ProxyFailure.refused(Proxy.Refusal(reason))) {
            try handshake.received(ByteBuffer(bytes: [5, reply]))
        }
    }

    @Test func repliesThatAreNotSOCKSAreInvalid() throws {
        for bytes in [[5, 0, 0, 2, 0], [5, 0, 0, 0xFF, 0], [0x16, 3]] as [[UInt8]] {
            var handshake = try socks()
            _ = try handshake.received(ByteBuffer(bytes: [5, 0]))
            let error = #expect(throws: ProxyFailure.self) { try handshake.received(ByteBuffer(bytes: bytes)) }
            guard case .invalid = error else {
                Issue.record("not invalid: \(bytes)")
                continue
            }
        }
    }

    // MARK: SOCKS 4A

    @Test func socks4CarriesNamesBehindAnAddressThatNoHostHas() throws {
        let name = try #require(SOCKS4Handshake(to: ProxyTarget(origin), username: "ada"))
        #expect(
            name.start()
                == ByteBuffer(
                    bytes: [4, 1, 1, 0xBB, 0, 0, 0, 1] + Array("ada".utf8) + [0] + Array("origin.example".utf8) + [0]))
        let address = ProxyTarget(try Origin(isSecure: false, authority: "192.0.2.7"))
        let plain = try #require(SOCKS4Handshake(to: address, username: nil))
        #expect(plain.start() == ByteBuffer(bytes: [4, 1, 0, 80, 192, 0, 2, 7, 0]))
        #expect(SOCKS4Handshake(to: ProxyTarget(try Origin(isSecure: true, authority: "[::1]")), username: nil) == nil)
    }

    @Test(
        arguments: [
            ([0, 90, 1, 2, 3, 4, 5, 6, 7], .success(.open(ByteBuffer(bytes: [7])))),
            ([0, 90, 1], .success(.needsBytes)),
            ([0, 91], .failure(.refused(Proxy.Refusal("a refusal or a failure")))),
            ([0, 92], .failure(.authentication([]))),
            ([0, 93], .failure(.authentication([]))), ([0, 1], .failure(.refused(Proxy.Refusal("reply 1")))),
            ([4, 90], .failure(.invalid("it is not SOCKS 4"))), ([0x48], .failure(.invalid("it is not SOCKS 4"))),
        ] as [([UInt8], Result<ProxyHandshakeStep, ProxyFailure>)])
    func socks4HasEightBytesOfReply(answer: [UInt8], result: Result<ProxyHandshakeStep, ProxyFailure>) throws {
        let handshake = try #require(SOCKS4Handshake(to: ProxyTarget(origin), username: nil))
        #expect(end(handshake, answer) == result)
    }

    // MARK: Authentication

    private let stream = TransportRequestBody.pieces(["a"], isReplayable: false)
    private let basic = "Basic YWRhOnNlY3JldA=="

    @Test func aPasswordWaitsForAChallengeInClearText() throws {
        var state = ProxyAuthentication(try Proxy("http://ada:secret@proxy.example"))
        #expect(state.answer(method: "GET", uri: "/") == ProxyAnswer())
        #expect(state.answer(method: "PUT", uri: "/", body: .text("a")) == ProxyAnswer(asksFirst: true))
        for none in [[], ["Negotiate"], ["X realm=\", Basic y\""]] {
            let reply = state.challenged(none, after: ProxyAnswer())
            #expect(reply == .refusal)
        }
        #expect(state.answer(method: "GET", uri: "/") == ProxyAnswer())
        let challenge = ["Negotiate, basic realm=\"x\""]
        let reply = state.challenged(challenge, after: ProxyAnswer())
        #expect(reply == .question)
        #expect(state.answer(method: "PUT", uri: "/", body: stream) == ProxyAnswer(authorization: basic))
        // Refused, and not to be sent again by this request. One without it may still be.
        let again = state.challenged(challenge, after: ProxyAnswer(authorization: basic))
        #expect(again == .refusal)
        let late = state.challenged(challenge, after: ProxyAnswer())
        #expect(late == .question)
    }

    @Test func theStrongestSchemeIsAnswered() throws {
        var state = ProxyAuthentication(try Proxy("http://ada:secret@proxy.example"))
        let digest = "Digest realm=\"p\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"
        for challenges in [["Basic realm=\"p\"", digest], ["Digest realm=\"p\", nonce=\"n\", qop=\"auth\""]] {
            let reply = state.challenged(challenges, after: ProxyAnswer())
            #expect(reply == .question)
            let answers = (0..<2).compactMap { _ in
                state.answer(method: "CONNECT", uri: "origin.example:443").authorization
            }
            #expect(answers.allSatisfy { $0.hasPrefix("Digest ") && $0.contains("uri=\"origin.example:443\"") })
            #expect(answers.count == 2 && answers[1].contains("nc=00000002"))
            // A nonce becomes stale at any time.
            #expect(state.answer(method: "PUT", uri: "/", body: stream).asksFirst)
            #expect(!state.answer(method: "PUT", uri: "/", body: .text("a")).asksFirst)
        }
    }

    /// Requests on several connections: a nonce that arrived in another order is stale, and then each has one request
    /// at a time.
    @Test func noncesAreUsedInTurnOnceTheirOrderMatters() throws {
        var state = ProxyAuthentication(try Proxy("http://ada:secret@proxy.example"))
        func answer() -> ProxyAnswer { state.answer(method: "GET", uri: "/") }
        func challenge(_ nonce: String, stale: Bool = false) -> [String] {
            ["Digest realm=\"p\", nonce=\"\(nonce)\", qop=\"auth\", stale=\(stale)"]
        }
        var reply = state.challenged(challenge("a"), after: ProxyAnswer())
        #expect(reply == .question)
        var answers = [answer(), answer()]
        #expect(answers.allSatisfy { $0.authorization?.contains("nonce=\"a\"") == true })
        reply = state.challenged(challenge("b", stale: true), after: answers[1], hadCompany: true)
        #expect(reply == .question)
        answers = [answer(), answer()]
        #expect(answers[0].authorization?.contains("nonce=\"b\"") == true)
        // There is no nonce for it; a body waits for the challenge.
        #expect(answers[1] == ProxyAnswer())
        #expect(state.answer(method: "PUT", uri: "/", body: .text("a")) == ProxyAnswer(asksFirst: true))
        reply = state.challenged(challenge("c"), after: answers[1])
        #expect(reply == .question)
        answers = [answers[0], answer()]
        #expect(answers[1].authorization?.contains("nonce=\"c\"") == true)
        // The response has arrived.
        answers.removeFirst()
        answers.append(answer())
        #expect(answers[1].authorization?.contains("nonce=\"b\"") == true)
        #expect(answers[1].authorization?.contains("nc=00000002") == true)
        // Not stale: the password is wrong.
        reply = state.challenged(challenge("d"), after: answers[1])
        #expect(reply == .challenge)
    }

    @Test func challengesToOneRequestAreLimited() {
        var challenges = ProxyChallenges()
        for _ in 0..<8 {
            let mayAnswer = challenges.mayAnswer(.question)
            #expect(mayAnswer)
        }
        let questions = challenges.mayAnswer(.question)
        #expect(!questions)
        var first = ProxyChallenges()
        let mayAnswer = [first.mayAnswer(.challenge), first.mayAnswer(.challenge), first.mayAnswer(.question)]
        #expect(mayAnswer == [true, false, true])
        var asked = ProxyChallenges()
        let mayAnswerAsked = [asked.mayAnswer(.question), asked.mayAnswer(.challenge)]
        #expect(mayAnswerAsked == [true, false])
    }

    @Test func aProxyThatForwardsWithoutAskingIsNotAskedFirst() throws {
        var state = ProxyAuthentication(try Proxy("http://ada:secret@proxy.example"))
        let refused = state.received(HTTPResponse(status: .expectationFailed), after: ProxyAnswer(asksFirst: true))
        #expect(refused == .refusesToWait)
        #expect(state.answer(method: "PUT", uri: "/", body: stream).asksFirst)
        let own = state.received(HTTPResponse(status: .expectationFailed), after: ProxyAnswer())
        #expect(own == nil)
        #expect(state.answer(method: "PUT", uri: "/", body: stream) == ProxyAnswer())
        var challenge = HTTPResponse(status: .proxyAuthenticationRequired)
        challenge.headerFields[.proxyAuthenticate] = "Basic realm=x"
        let first = state.received(challenge, after: ProxyAnswer())
        #expect(first == .question)
        let second = state.received(challenge, after: state.answer(method: "GET", uri: "/"))
        #expect(second == .refusal)
    }

    @Test func aPasswordIsSentAtOnceOverTLS() throws {
        var state = ProxyAuthentication(try Proxy("https://ada:secret@proxy.example"))
        #expect(state.answer(method: "CONNECT", uri: "a:1") == ProxyAnswer(authorization: basic))
        let reply = state.challenged(["Basic realm=x"], after: ProxyAnswer(authorization: basic))
        #expect(reply == .refusal)
    }

    @Test func withoutCredentialsNoChallengeIsAnswered() throws {
        var state = ProxyAuthentication(try Proxy("http://proxy.example"))
        #expect(state.answer(method: "PUT", uri: "/", body: stream) == ProxyAnswer())
        let reply = state.challenged(["Basic realm=x"], after: ProxyAnswer())
        #expect(reply == .refusal)
    }
}

extension Result {
    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
