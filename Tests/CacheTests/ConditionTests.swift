import HTTPTypes
import LinnetMessages
import Testing

@testable import LinnetCache

/// The caller's own conditions and ranges: RFC 9111, section 4.3.2; RFC 9110, sections 13 and 14.
@Suite(.timeLimit(.minutes(1)))
struct ConditionTests {
    /// Each case: the stored response's fields, the request's, and the status of the answer; "load" if the server must
    /// answer.
    @Test(arguments: [
        // RFC 9110, section 13.1.2: If-None-Match, by weak comparison.
        ("ETag: \"a\"", "If-None-Match: \"a\"", "304"), ("ETag: \"a\"", "If-None-Match: \"b\"", "200"),
        ("ETag: \"a\"", "If-None-Match: W/\"a\"", "304"), ("ETag: W/\"a\"", "If-None-Match: \"a\"", "304"),
        ("ETag: \"a\"", "If-None-Match: \"b\", \"a\"", "304"),
        ("ETag: \"a\"", "If-None-Match: \"b\"|If-None-Match: \"a\"", "304"),
        ("ETag: \"a\"", "If-None-Match: *", "304"), ("", "If-None-Match: *", "304"),
        ("", "If-None-Match: \"a\"", "200"),
        ("ETag: \"a,b\"", "If-None-Match: \"x\",\"a,b\"", "304"), ("ETag: \"A\"", "If-None-Match: \"a\"", "200"),
        ("ETag: a", "If-None-Match: a", "304"), ("ETag: \"a\"", "If-None-Match: \"a", "load"),
        ("ETag: \"a\"", "If-None-Match: \"a\" \"b\"", "load"), ("ETag: \"a\"", "If-None-Match: ", "load"),
        ("ETag: \"a\"", "If-None-Match: ,\"a\"", "load"),
        // Section 13.1.3: If-Modified-Since.
        ("Last-Modified: {-50s}", "If-Modified-Since: {-50s}", "304"),
        ("Last-Modified: {-50s}", "If-Modified-Since: {-1s}", "304"),
        ("Last-Modified: {-50s}", "If-Modified-Since: {-100s}", "200"),
        ("Last-Modified: {-50s}", "If-Modified-Since: x", "200"),
        ("Last-Modified: {-50s}", "If-Modified-Since: {-1s}|If-Modified-Since: {-1s}", "200"),
        // RFC 9111, section 4.3.2: Date, where there is no Last-Modified.
        ("", "If-Modified-Since: {now}", "304"), ("", "If-Modified-Since: {-1s}", "200"),
        // Section 13.2.2: If-None-Match comes first.
        ("ETag: \"a\"|Last-Modified: {-50s}", "If-None-Match: \"b\"|If-Modified-Since: {-1s}", "200"),
        ("ETag: \"a\"|Last-Modified: {-50s}", "If-None-Match: \"a\"|If-Modified-Since: {-100s}", "304"),
        // Sections 13.1.1 and 13.1.4: for the origin server only.
        ("ETag: \"a\"", "If-Match: \"a\"", "load"), ("ETag: \"a\"", "If-Unmodified-Since: {now}", "load"),
        // Section 14.2: a single range of 100 bytes.
        ("", "Range: bytes=0-9", "206 0-9/100"), ("", "Range: bytes=10-", "206 10-99/100"),
        ("", "Range: bytes=-10", "206 90-99/100"), ("", "Range: bytes=0-999", "206 0-99/100"),
        ("", "Range: bytes=-999", "206 0-99/100"), ("", "Range: BYTES=0-0", "206 0-0/100"),
        ("", "Range: bytes=99-99", "206 99-99/100"), ("", "Range: bytes=0-99999999999999999999999", "206 0-99/100"),
        ("", "Range: bytes=100-", "load"), ("", "Range: bytes=99999999999999999999-", "load"),
        ("", "Range: bytes=-0", "load"),
        ("", "Range: bytes=9-0", "load"), ("", "Range: bytes=0-1,5-6", "load"), ("", "Range: items=0-1", "load"),
        ("", "Range: bytes", "load"), ("", "Range: bytes=", "load"), ("", "Range: bytes=a-b", "load"),
        ("", "Range: bytes=--1", "load"), ("", "Range: bytes=-", "load"),
        ("", "Range: bytes=0-1|Range: bytes=5-6", "load"), ("", "Range: =bytes=0-1", "load"),
        // Section 13.1.5: If-Range, by strong comparison.
        ("ETag: \"a\"", "Range: bytes=0-9|If-Range: \"a\"", "206 0-9/100"),
        ("ETag: \"a\"", "Range: bytes=0-9|If-Range: \"b\"", "200"),
        ("ETag: W/\"a\"", "Range: bytes=0-9|If-Range: W/\"a\"", "200"),
        ("ETag: \"a\"", "Range: bytes=0-9|If-Range: W/\"a\"", "200"), ("ETag: \"a\"", "If-Range: \"b\"", "200"),
        ("Last-Modified: {-50s}", "Range: bytes=0-9|If-Range: {-50s}", "206 0-9/100"),
        ("Last-Modified: {-50s}", "Range: bytes=0-9|If-Range: {-1s}", "200"),
        ("Last-Modified: {now}", "Range: bytes=0-9|If-Range: {now}", "200"),
        ("ETag: \"a\"", "Range: bytes=0-1,5-6|If-Range: \"b\"", "200"),
        ("", "Range: bytes=0-9|If-Range: \"a\"", "200"), ("ETag: \"a\"", "Range: bytes=0-9|If-Range: \"a", "200"),
        // Section 14.2: conditions come before the range.
        ("ETag: \"a\"", "Range: bytes=0-9|If-None-Match: \"a\"", "304"),
        ("ETag: \"a\"", "Range: bytes=0-9|If-None-Match: \"b\"", "206 0-9/100"),
    ])
    func aFreshResponseAnswers(text: String, own: String, expected: String) throws {
        let response = try stored("Cache-Control: max-age=60|" + text)
        let decision = CacheRules().decision(for: request(own), among: [response], at: at(0))
        #expect(describe(decision) == expected)
    }

    /// RFC 9110, section 14.1.2: a range refers to coded bytes, which a request without codings cannot use.
    @Test(
        arguments: [
            ("gzip", "identity", "load"), ("gzip", "Identity", "load"), ("gzip", "gzip", "206 0-9/100"),
            ("identity", "identity", "206 0-9/100"), (nil, "identity", "206 0-9/100"), ("gzip", nil, "206 0-9/100"),
        ] as [(String?, String?, String)])
    func aRangeOfCodedBytesIsNotAnUncodedOne(coding: String?, accepted: String?, expected: String) throws {
        let coded = try stored("Cache-Control: max-age=60" + (coding.map { "|Content-Encoding: \($0)" } ?? ""))
        let own = request("Range: bytes=0-9" + (accepted.map { "|Accept-Encoding: \($0)" } ?? ""))
        #expect(describe(CacheRules().decision(for: own, among: [coded], at: at(0))) == expected)
    }

    /// RFC 9111, section 3.3: bytes 10 to 19 of 100 are stored.
    @Test(arguments: [
        ("Range: bytes=10-19", "206 10-19/100"), ("Range: bytes=12-14", "206 12-14/100"), ("Range: bytes=9-19", "load"),
        ("Range: bytes=10-20", "load"), ("Range: bytes=10-", "load"), ("Range: bytes=-10", "load"), ("", "load"),
        ("Range: bytes=12-14|If-Range: \"a\"", "206 12-14/100"), ("Range: bytes=12-14|If-Range: \"b\"", "load"),
        ("If-None-Match: \"a\"", "304"), ("Range: bytes=0-1,12-13", "load"),
    ])
    func aStoredPartAnswersOnlyRangesWithinIt(own: String, expected: String) throws {
        let part = try stored(
            "Cache-Control: max-age=60|Content-Range: bytes 10-19/100|ETag: \"a\"", status: 206)
        let decision = CacheRules().decision(for: request(own), among: [part], at: at(0))
        #expect(describe(decision) == expected)
    }

    @Test func anAnswersBodyIsARangeOfTheStoredBytes() throws {
        let part = try stored("Cache-Control: max-age=60|Content-Range: bytes 10-19/100|ETag: \"a\"", status: 206)
        let decision = CacheRules().decision(for: request("Range: bytes=12-14"), among: [part], at: at(0))
        let answer = try #require(decision.answer)
        #expect(answer.body == 2..<5)
        #expect(answer.head.headerFields[.contentLength] == "3")
        #expect(answer.head.headerFields[.age] == "0")
    }

    /// RFC 9110, section 14.2: Range is defined for GET, and for responses with a representation.
    @Test func otherMethodsAndStatusesIgnoreRanges() throws {
        let response = try stored("Cache-Control: max-age=60")
        let head = request("Range: bytes=0-9", method: .head)
        #expect(describe(CacheRules().decision(for: head, among: [response], at: at(0))) == "200")
        let missing = try stored("Cache-Control: max-age=60", status: 404)
        let ranged = request("Range: bytes=0-9|If-None-Match: *")
        #expect(describe(CacheRules().decision(for: ranged, among: [missing], at: at(0))) == "404")
    }

    /// RFC 9110, section 15.4.5.
    @Test func aNotModifiedResponseHasOnlyTheFieldsThatUpdate() throws {
        let response = try stored(
            "Cache-Control: max-age=60|ETag: \"a\"|Content-Type: text/plain|Content-Length: 100|Vary: A|Expires: 0|X: 1"
        )
        let own = request("If-None-Match: \"a\"")
        let answer = try #require(CacheRules().decision(for: own, among: [response], at: at(7)).answer)
        let names = answer.head.headerFields.map(\.name.canonicalName).sorted()
        #expect(names == ["age", "cache-control", "date", "etag", "expires", "vary"])
        #expect(answer.head.headerFields[.age] == "7")
        #expect(answer.body == nil)
    }

    @Test func aResponseWithoutAnyDateMayBeModified() {
        #expect(!Validators(response("-Date")).isUnmodified(since: HTTPDate(at(0))))
    }

    /// Requests without these fields take a shorter way.
    @Test(arguments: [
        ("", false), ("Accept: a", false), ("Cookie: a", false), ("If-Match: \"a\"", true), ("RANGE: bytes=0-1", true),
        ("Accept: a|Cache-Control: no-cache", true), ("Pragma: no-cache", true),
    ])
    func someFieldsDecideAboutStoredResponses(text: String, expected: Bool) {
        #expect(fields(text).decideAboutStoredResponses == expected)
    }

    /// RFC 9110, section 8.8.3.
    @Test(arguments: [
        ("\"a\"", "\"a\"", false), ("W/\"a\"", "\"a\"", true), ("\"\"", "\"\"", false), ("a", "a", true),
        ("W/a", "a", true),
        ("\"a\\b\"", "\"a\\b\"", false), (" \"a\" ", "\"a\"", false), ("\"a", "", false), ("\"a\"b", "", false),
        ("a b", "", false), ("a,b", "", false), ("", "", false), ("W/", "", false), ("w/\"a\"", "", false),
        ("\"a b\"", "", false), ("\"!\"", "\"!\"", false), ("\"\u{7F}\"", "", false),
    ])
    func entityTagsAreParsed(text: String, opaque: String, isWeak: Bool) {
        let tag = EntityTag(text)
        #expect(tag?.opaque ?? "" == opaque)
        #expect(tag?.isWeak ?? false == isWeak)
    }

    private func describe(_ decision: CacheDecision) -> String {
        guard let answer = decision.answer else { return decision.word }
        let range = answer.head.headerFields[.contentRange].map { " " + $0.dropFirst("bytes ".count) } ?? ""
        return "\(answer.head.status.code)\(range)"
    }
}
