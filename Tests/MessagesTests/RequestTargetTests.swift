import CommandSupport
import FoundationEssentials
import Testing

@testable import LinnetMessages

@Suite(.timeLimit(.minutes(1)))
struct RequestTargetTests {
    @Test(arguments: [
        ("http://example.com", "http", "example.com", "/"),
        ("http://example.com?q=1", "http", "example.com", "/?q=1"),
        ("http://example.com/a/b?q=1&r=%20#top", "http", "example.com", "/a/b?q=1&r=%20"),
        ("http://example.com:80/", "http", "example.com", "/"),
        ("https://example.com:443/", "https", "example.com", "/"),
        ("https://example.com:80/", "https", "example.com:80", "/"),
        ("http://example.com:8080/x", "http", "example.com:8080", "/x"),
        ("http://example.com:/x", "http", "example.com", "/x"),
        ("HTTP://Example.COM/Path", "http", "example.com", "/Path"),
        ("http://[::1]:8080/x", "http", "[::1]:8080", "/x"),
        ("http://[2001:db8::1]/", "http", "[2001:db8::1]", "/"),
        ("http://[2001:DB8:0::1]:80/", "http", "[2001:db8::1]", "/"),
        ("https://[::ffff:127.0.0.1]/", "https", "127.0.0.1", "/"),
        ("https://[::FFFF:7f00:1]:8443/", "https", "127.0.0.1:8443", "/"),
        ("http://127.0.0.1.:8080/", "http", "127.0.0.1:8080", "/"),
        ("http://Example.com./", "http", "example.com.", "/"),
        ("http://Example.com:08080/", "http", "example.com:8080", "/"),
        ("http://user:secret@example.com:81/", "http", "example.com:81", "/"),
        ("http://example.com/a b/ü", "http", "example.com", "/a%20b/%C3%BC"),
        ("http://example.com/%7Euser/a+b;c=d,e", "http", "example.com", "/%7Euser/a+b;c=d,e"),
    ])
    func takesURLsApart(url: String, scheme: String, authority: String, path: String) throws {
        let target = try RequestTarget(parsing: #require(URL(string: url)))
        #expect(target.origin.scheme == scheme)
        #expect(target.origin.authority == authority)
        #expect(target.path == path)
    }

    /// Foundation percent-encodes these bytes in URLs.
    @Test func aTargetInTextIsEncoded() throws {
        let text = "http://example.com/a b{\u{FC}?c d#e"
        #expect(try RequestTarget(parsing: text).path == "/a%20b%7B%C3%BC?c%20d")
        #expect(try RequestTarget(parsing: "http://a%20b:c@example.com/").userInfo?.user == "a b")
    }

    /// A known origin changes no result.
    @Test(arguments: [
        "http://example.com:8080", "http://example.com", "HTTPS://Example.com:443/", "http://[::1]:80/x",
        "http://127.0.0.1",
    ])
    func aKnownOriginIsRecognizedWhereItStands(base: String) throws {
        let url = try #require(URL(string: base))
        let known = try #require(KnownOrigin(url))
        let path = base.hasSuffix("/x") ? 2 : base.hasSuffix("/") ? 1 : 0
        let authority = String(base.dropLast(path))
        let rests = [
            "", "/", "/a/b?c=d#e", "?q=1", "?q=/a@b", "#top", "#/a?b", "//x", "/a b", "0", "0/", ":80/", ":8080/", ".",
            ".evil/", "@evil.example/", ":x@evil.example/", "\\@evil.example/", "%40evil.example/", "/@evil.example",
        ]
        for rest in rests {
            for text in [authority + rest, authority.uppercased() + rest, "http://other.example" + rest] {
                let expected = Result { try RequestTarget(parsing: text) }
                let target = Result { try RequestTarget(parsing: text, expecting: known) }
                #expect((try? target.get()) == (try? expected.get()), "\(text)")
            }
        }
        for rest in ["", "/", "/a?b", "?b", "#c"] {
            let found = Array((authority + rest).utf8).withUnsafeBufferPointer { known.rest(of: $0) }
            #expect(found?.count == rest.utf8.count, "\(authority + rest)")
        }
    }

    @Test(arguments: ["http://user@example.com/", "http://@example.com/", "ftp://example.com/", "http://127.1/", "/x"])
    func notEveryURLHasAKnownOrigin(url: String) throws {
        let url = try #require(URL(string: url))
        #expect(KnownOrigin(url) == nil)
    }

    @Test(arguments: [
        "ftp://example.com/", "file:///etc/passwd", "/x", "http:///x", "http://example.com:0/",
        "http://example.com:65536/", "http://a%3Ab@example.com/", "http://%FF@example.com/", "data:,x", "http://127.1/",
        "http://0x7f000001/", "https://2130706433/",
        "hxtp://a/", "htxp://a/", "httx://a/", "httpx://a/", "HTTPR://a/", "xttp://a/", "http://a:655350/",
        "http://0177.0.0.1/", "http://127.1./", "http://%31%32%37.0.0.1/", "http://a..b/", "http://[fe80::1%25lo]/",
    ])
    func refusesWhatIsNotHTTP(url: String) throws {
        let url = try #require(URL(string: url))
        #expect(throws: URLFault.self) { try RequestTarget(parsing: url) }
    }

    /// Characters that other parsers of URLs take for the end of the host, or omit. Foundation percent-encodes it in
    /// URLs.
    @Test(arguments: [
        "http://good.example\\@evil.example/", "http://good.example%5C@evil.example/",
        "http://good.example\t@evil.example/",
        "http://good.example%09@evil.example/", "http://a:b%0Ac@evil.example/", "http://a:b%7F@evil.example/",
        "http://good.example:80\\@evil.example/", "http://a:\\b@evil.example/",
    ])
    func ambiguousUserInformationIsRefused(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(throws: URLFault.userInfo) { try RequestTarget(parsing: text) }
        #expect(throws: URLFault.userInfo) { try RequestTarget(parsing: url) }
    }

    @Test func anAtSignInUserInformationHasToBeEncoded() throws {
        #expect(throws: URLFault.userInfo) { try RequestTarget(parsing: "http://good.example@x@evil.example/") }
        let target = try RequestTarget(parsing: "http://ada%40example.com:p%40ss@example.com/")
        #expect(target.userInfo == .init(user: "ada@example.com", password: "p@ss"))
    }

    @Test func bytesThatMayStandInATarget() {
        let forbidden = Set("\"<>\\^`{|}".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(byte.isTargetByte == (byte > 0x20 && byte < 0x7F && !forbidden.contains(byte)), "\(byte)")
        }
    }

    @Test(
        arguments: [
            ("http://ada:p%40ss@example.com/", "ada:p@ss"), ("http://ada@example.com/", "ada:"),
            ("http://:secret@example.com/", ":secret"), ("http://ada:a:b@example.com/", "ada:a:b"),
            ("http://@example.com/", nil), ("http://:@example.com/", nil), ("http://%C3%A4:%C3%BC@example.com/", "ä:ü"),
            ("http://example.com/a@b", nil), ("http://u:%CC%81@example.com/", "u:\u{301}"),
        ] as [(String, String?)])
    func userInformationIsDecodedAndNotPartOfTheAuthority(url: String, userInfo: String?) throws {
        let target = try RequestTarget(parsing: #require(URL(string: url)))
        let userInfo = userInfo.map { Array($0.utf8) }
        #expect(target.userInfo.map { Array(($0.user + ":").utf8) + Array($0.password.utf8) } == userInfo)
        #expect(target.origin.authority == "example.com")
    }

    @Test func originsAreEqualBySchemeHostAndPort() throws {
        let same = ["http://a", "http://A:80/x", "http://a:/", "http://u@a:080?q"]
        let other = ["https://a", "http://a:81", "http://b", "http://a."]
        func origin(_ text: String) throws -> Origin { try RequestTarget(parsing: #require(URL(string: text))).origin }
        let first = try origin("http://a/")
        for text in same { #expect(try origin(text) == first && origin(text).hashValue == first.hashValue, "\(text)") }
        for text in other { #expect(try origin(text) != first, "\(text)") }
        #expect(first.description == "http://a" && first.endpoint == "a:80")
        #expect(try origin("https://[::1]:444").endpoint == "[::1]:444")
    }

    /// The parsers of whole URLs and of authorities read the same host and port.
    @Test func anAuthorityIsReadAsInItsURL() throws {
        let seed = RandomSeed.next()
        var random = SplitMix(seed: seed)
        let pieces = [
            "a", "B", "1", "127.0.0.1", "127.1", "::1", "[", "]", ":", ":", "80", "443", "0", "0443", "65536", ".", "-",
            "x",
        ]
        var accepted = 0
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...5, using: &random)).map { _ in pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            guard let url = URL(string: "https://\(text)/"), url.absoluteString == "https://\(text)/" else { continue }
            let (whole, alone) = (
                try? RequestTarget(parsing: url).origin, try? Origin(isSecure: true, authority: text)
            )
            #expect(whole == alone && whole?.authority == alone?.authority, "\(text), seed \(seed)")
            guard let alone else { continue }
            accepted += 1
            // Written components parse into the same ones.
            #expect(try Origin(isSecure: true, authority: alone.authority) == alone, "\(text), seed \(seed)")
        }
        #expect(accepted > 1_000)
    }
}
