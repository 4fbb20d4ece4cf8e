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

    @Test func theUserInfoIsThePartBeforeTheLastAt() {
        var reference = URIReference("http://a@b:c@d:1/e@f")
        #expect(reference.userInfo == "a@b:c")
        reference.userInfo = nil
        #expect(reference.text == "http://d:1/e@f")
        reference.userInfo = "x"
        #expect(reference.text == "http://x@d:1/e@f")
    }
}
