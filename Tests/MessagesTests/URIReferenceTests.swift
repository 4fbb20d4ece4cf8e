import Testing

@testable import LinnetMessages

@Suite(.timeLimit(.minutes(1)))
struct URIReferenceTests {
    /// The examples of RFC 3986, sections 5.4.1 and 5.4.2, all of them.
    @Test(arguments: [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"),
        ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
        ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ])
    func theExamplesOfTheStandard(reference: String, expected: String) {
        let base = URIReference("http://a/b/c/d;p?q")
        #expect(URIReference(reference).resolved(against: base).text == expected)
    }

    @Test(arguments: [
        ("http://a", "g", "http://a/g"), ("http://a", "?y", "http://a?y"), ("http://a?q", "", "http://a?q"),
        ("http://u:p@a:81/b", "c", "http://u:p@a:81/c"), ("http://a/b", "//c:82/d", "http://c:82/d"),
        ("http://a/b", "http://c", "http://c"), ("http://a/b", "1:2", "http://a/1:2"),
        ("http://a/b", "/\u{301}c/d/../e", "http://a/\u{301}c/e"), ("http://a/b", "//\u{301}c", "http://\u{301}c"),
    ])
    func otherBases(base: String, reference: String, expected: String) {
        #expect(URIReference(reference).resolved(against: URIReference(base)).text == expected)
    }

    /// A path that begins with two slashes does not become an authority when it is written.
    @Test(arguments: ["https:/.//u@h/x", "https:/..//h", "https:/a/..//h", "https:/././/h"])
    func aPathIsNeverReadAsAnAuthority(reference: String) {
        let resolved = URIReference(reference).resolved(against: URIReference("http://a/b"))
        #expect(resolved.authority == nil && resolved.path.hasPrefix("//"))
        let read = URIReference(resolved.text)
        #expect(read.authority == nil && read.scheme == "https")
        #expect(URIReference.removingDotSegments(read.path) == resolved.path)
    }

    /// RFC 3986, section 3.1.
    @Test(
        arguments: [
            ("a+b-c.d9:e", "a+b-c.d9"), ("A:", "A"), ("a,b:c", nil), ("a_b:c", nil), ("9a:b", nil), ("+a:b", nil),
            (":a", nil), ("a/b:c", nil), ("a?b:c", nil), ("a#b:c", nil),
        ] as [(String, Substring?)])
    func aSchemeIsALetterThenLettersDigitsPlusHyphenAndDot(text: String, scheme: Substring?) {
        #expect(URIReference(text).scheme == scheme)
        #expect(URIReference(text).text == text)
    }

    @Test(
        arguments: [("//", ""), ("a://", ""), ("//a", "a"), ("/", nil), ("a:/", nil), ("", nil)]
            as [(String, Substring?)])
    func anAuthorityFollowsTwoSlashes(text: String, authority: Substring?) {
        #expect(URIReference(text).authority == authority)
        #expect(URIReference(text).text == text)
    }

    /// An authority that is invalid because of its brackets is a host as a whole, which is refused later.
    @Test(
        arguments: [
            ("[::1]", "::1", nil, true), ("[::1]:80", "::1", "80", true), ("[::1]x", "[::1]x", nil, false),
            ("[", "[", nil, false), ("[a:1", "[a:1", nil, false), ("a:", "a", "", false), ("u@[::1]:", "::1", "", true),
        ] as [(String, String, String?, Bool)])
    func bracketsEncloseTheHost(text: String, host: String, port: String?, isBracketed: Bool) {
        var text = text
        text.withUTF8 { bytes in
            let ranges = AuthorityRanges(bytes, in: 0..<bytes.count)
            #expect(String(decoding: bytes[ranges.host], as: UTF8.self) == host)
            #expect(ranges.port.map { String(decoding: bytes[$0], as: UTF8.self) } == port)
            #expect(ranges.isBracketed == isBracketed)
        }
    }

    @Test(arguments: [
        ("http://a b/c d?e f#g h", "http://a b/c%20d?e%20f#g%20h"), ("/%41%4", "/%41%254"), ("/%4g1", "/%254g1"),
        ("/%", "/%25"), ("/%zz", "/%25zz"), ("/[a]?[b]", "/%5Ba%5D?%5Bb%5D"), ("/a#b#c", "/a#b%23c"),
        ("/\u{E9}\u{7F}", "/%C3%A9%7F"), ("/a-b?c=d", "/a-b?c=d"),
    ])
    func invalidBytesAreEncodedAndEscapesStay(text: String, expected: String) {
        var reference = URIReference(text)
        reference.encodeInvalidBytes()
        #expect(reference.text == expected)
    }

    @Test(arguments: [
        ("http://a@b/", false), ("http://b/", false), ("/a@b@c", false), ("http://a@x@b/", true),
        ("http://a\\@b/", true), ("http://a\u{1}@b/", true), ("http://@b/", false),
    ])
    func someUserInformationIsAmbiguous(text: String, isAmbiguous: Bool) {
        #expect(URIReference(text).hasAmbiguousUserInfo == isAmbiguous)
    }

    @Test func theUserInfoIsThePartBeforeTheLastAt() {
        var reference = URIReference("http://a@b:c@d:1/e@f")
        #expect(reference.userInfo == "a@b:c")
        reference.userInfo = nil
        #expect(reference.text == "http://d:1/e@f")
        reference.userInfo = "x"
        #expect(reference.text == "http://x@d:1/e@f")
    }
}
