import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetCache

/// The effects of responses on stored ones: RFC 9111, sections 3.4, 4.3.5 and 4.4.
@Suite(.timeLimit(.minutes(1)))
struct UpdateTests {
    /// Section 4.3.5: whether a response to HEAD confirms a stored one of 100 bytes.
    @Test(arguments: [
        ("ETag: \"a\"", "ETag: \"a\"", true), ("ETag: \"a\"", "ETag: \"b\"", false),
        ("ETag: \"a\"", "ETag: W/\"a\"", false),
        ("ETag: \"a\"", "", true), ("", "ETag: \"a\"", false), ("", "", true), ("", "Content-Length: 100", true),
        ("", "Content-Length: 101", false), ("Content-Length: 100", "Content-Length: 100", true),
        ("Content-Length: 50", "Content-Length: 50", true),
        ("ETag: \"a\"", "ETag: \"a\"|Content-Length: 101", false),
        ("Last-Modified: {-50s}", "Last-Modified: {-50s}", true),
        ("Last-Modified: {-50s}", "Last-Modified: {-1s}", false),
        ("ETag: \"a\"|Last-Modified: {-50s}", "ETag: \"a\"|Last-Modified: {-1s}", false),
        ("ETag: \"a\"", "ETag: \"a\"|Cache-Control: no-store", false), ("ETag: \"a\"", "ETag: \"a\"|Vary: *", false),
    ])
    func aHeadResponseUpdatesOrInvalidates(old: String, new: String, isConfirmed: Bool) throws {
        let response = try stored("Cache-Control: max-age=1|" + old)
        let result = CacheRules().consequences(
            ofHead: CacheTests.response("A: 1|" + new), to: request(method: .head), among: [response],
            requestTime: at(5), responseTime: at(6))
        #expect(result.updated.map(\.id) == (isConfirmed ? [response.id] : []))
        #expect(result.removed == (isConfirmed ? [] : [response.id]))
        if isConfirmed { #expect(result.updated.first?.head.headerFields[values: .age] == []) }
    }

    /// HTTPFields terminates the process at 65,535 fields: updates must not add up to them. Each head has an ETag and a
    /// Date, which are replaced, and fields with unique names.
    @Test(arguments: [(5_000, 4_998, true), (5_000, 4_999, false), (60_600, 5_000, false)])
    func updatesAddUpToAtMostTenThousandFields(old: Int, new: Int, isUpdated: Bool) throws {
        var response = try stored("Cache-Control: no-cache|ETag: \"a\"")
        response.head.headerFields = distinctFields(old, "Old")
        let newer = HTTPResponse(status: .notModified, headerFields: distinctFields(new, "New"))
        let validation = try #require(CacheRules().decision(for: request(), among: [response], at: at(4)).validation)
        guard
            case .confirmed(let answer, let updated, let removed) = CacheRules().outcome(
                of: newer, to: validation, for: request(), among: [response], requestTime: at(5), responseTime: at(6))
        else {
            Issue.record("The response is not confirmed.")
            return
        }
        // The answer has an Age.
        #expect(answer.head.headerFields.count == (isUpdated ? 10_000 : old + 2) + 1)
        #expect(updated.map(\.head.headerFields.count) == (isUpdated ? [10_000] : []))
        #expect(removed == (isUpdated ? [] : [response.id]))

        let head = CacheRules().consequences(
            ofHead: HTTPResponse(status: .ok, headerFields: newer.headerFields), to: request(method: .head),
            among: [response], requestTime: at(5), responseTime: at(6))
        #expect(head.removed == removed)

        var part = HTTPResponse(status: .partialContent, headerFields: newer.headerFields)
        part.headerFields[.contentRange] = "bytes 0-9/100"
        let entry = try #require(
            CacheRules().entry(for: part, to: request(), key: try key(), requestTime: at(5), responseTime: at(6)))
        #expect((CacheRules().combination(of: entry, part, with: response) != nil) == isUpdated)
    }

    private func distinctFields(_ count: Int, _ prefix: String) -> HTTPFields {
        var fields: HTTPFields = [.eTag: "\"a\"", .date: firstDate]
        for index in 0..<count {
            if let name = HTTPField.Name("\(prefix)\(index)") { fields.append(HTTPField(name: name, value: "")) }
        }
        return fields
    }

    @Test(arguments: [(HTTPRequest.Method.get, 200), (.head, 404), (.head, 304), (.head, 500)])
    func onlySuccessfulHeadResponsesCount(method: HTTPRequest.Method, status: Int) throws {
        let response = try stored("ETag: \"a\"")
        let result = CacheRules().consequences(
            ofHead: CacheTests.response("ETag: \"b\"", status: status), to: request(method: method),
            among: [response], requestTime: at(5), responseTime: at(6))
        #expect(result.updated.isEmpty && result.removed.isEmpty)
    }

    @Test func aHeadResponseSaysNothingAboutOtherVariants() throws {
        let response = try stored("Vary: A", to: request("A: 1"))
        let result = CacheRules().consequences(
            ofHead: CacheTests.response("ETag: \"b\""), to: request("A: 2", method: .head), among: [response],
            requestTime: at(5), responseTime: at(6))
        #expect(result.updated.isEmpty && result.removed.isEmpty)
    }

    /// Section 4.4: the target is `https://example.com/a`.
    @Test(arguments: [
        ("POST", 200, "", ["/a"]), ("PUT", 201, "", ["/a"]), ("DELETE", 204, "", ["/a"]), ("PATCH", 301, "", ["/a"]),
        ("FOO", 200, "", ["/a"]), ("post", 200, "", ["/a"]), ("POST", 400, "", []), ("POST", 500, "", []),
        ("POST", 101, "", []), ("POST", 399, "", ["/a"]),
        ("GET", 200, "", []), ("HEAD", 200, "", []), ("OPTIONS", 200, "", []), ("TRACE", 200, "", []),
        ("QUERY", 200, "", []),
        ("POST", 201, "Location: /b", ["/a", "/b"]), ("POST", 201, "Location: b?c", ["/a", "/b?c"]),
        ("POST", 201, "Location: https://EXAMPLE.com:443/b", ["/a", "/b"]),
        ("POST", 201, "Location: //example.com/b#d", ["/a", "/b"]),
        ("POST", 200, "Content-Location: /b", ["/a", "/b"]),
        ("POST", 201, "Location: /b|Content-Location: /c", ["/a", "/b", "/c"]),
        ("POST", 201, "Location: /a", ["/a"]), ("POST", 201, "Location: /b|Content-Location: /b", ["/a", "/b"]),
        ("POST", 201, "Location: http://example.com/b", ["/a"]),
        ("POST", 201, "Location: https://example.com:444/b", ["/a"]),
        ("POST", 201, "Location: https://example.org/b", ["/a"]),
        ("POST", 201, "Location: https://example.com.evil/b", ["/a"]),
        // An escape stays one when an invalid byte beside it is escaped.
        ("POST", 201, "Location: /%41{", ["/a", "/%41%7B"]),
        ("POST", 201, "Location: https://", ["/a"]), ("POST", 201, "Location: javascript:1", ["/a"]),
        ("POST", 201, "Location: https://x@example.com/b", ["/a", "/b"]), ("POST", 400, "Location: /b", []),
    ])
    func unsafeRequestsInvalidate(method: String, status: Int, text: String, expected: [String]) throws {
        let method = try #require(HTTPRequest.Method(rawValue: method))
        let keys = CacheRules().invalidatedKeys(
            by: response(text, status: status), to: request(method: method), key: try key())
        #expect(keys.map(\.description) == expected.map { "https://example.com" + $0 })
    }

    /// Section 4.3.3: the responses that a new one replaces, stored or not. The first response matches the request, the
    /// second does not.
    @Test(
        arguments: [
            ("GET", 200, [1]), ("GET", 301, [1]), ("GET", 404, [1]), ("GET", 410, [1]), ("GET", 304, []),
            ("GET", 299, [1]), ("GET", 303, [1]), ("GET", 305, [1]), ("GET", 399, [1]),
            ("GET", 401, []), ("GET", 403, []),
            ("GET", 429, []), ("GET", 500, []), ("GET", 503, []), ("HEAD", 200, []), ("POST", 200, []),
        ] as [(String, Int, [UInt64])])
    func aNewResponseSupersedesThoseOfItsVariant(method: String, status: Int, expected: [UInt64]) throws {
        let method = try #require(HTTPRequest.Method(rawValue: method))
        let responses = [try stored("Vary: A", id: 1), try stored("Vary: A", to: request("A: 1"), id: 2)]
        let ids = CacheRules().superseded(by: response(status: status), to: request(method: method), among: responses)
        #expect(ids.map(\.rawValue) == expected)
    }

    @Test(arguments: [("ETag: \"a\"", []), ("ETag: \"b\"", [1])] as [(String, [UInt64])])
    func aPartSupersedesOtherRepresentations(text: String, expected: [UInt64]) throws {
        let response = try stored("ETag: \"a\"", id: 1)
        let part = CacheTests.response("Content-Range: bytes 0-9/100|" + text, status: 206)
        #expect(CacheRules().superseded(by: part, to: request(), among: [response]).map(\.rawValue) == expected)
    }

    /// Section 3.4: the stored range and the new one, of 100 bytes, and the combined body: `s` stored, `r` received.
    @Test(arguments: [
        ("0-9", "10-19", "s0-9 r0-9", "0-19"), ("10-19", "0-9", "r0-9 s0-9", "0-19"),
        ("0-9", "5-14", "s0-4 r0-9", "0-14"),
        ("5-14", "0-9", "r0-9 s5-9", "0-14"), ("0-99", "10-19", "s0-9 r0-9 s20-99", "all"),
        ("10-19", "0-99", "r0-99", "all"),
        ("0-49", "50-99", "s0-49 r0-49", "all"), ("10-19", "10-19", "r0-9", "10-19"),
        ("10-19", "12-14", "s0-1 r0-2 s5-9", "10-19"),
        ("0-9", "11-19", "none", ""), ("50-59", "0-9", "none", ""), ("0-9", "10-10", "s0-9 r0-0", "0-10"),
    ])
    func partsAreCombined(held: String, received: String, pieces: String, range: String) throws {
        let old = try stored("ETag: \"a\"|A: 1|B: 2|Content-Range: bytes \(held)/100", status: 206)
        let new = response("ETag: \"a\"|B: 3|Content-Range: bytes \(received)/100|Content-Length: 1", status: 206)
        let entry = try #require(
            CacheRules().entry(for: new, to: request(), key: try key(), requestTime: at(5), responseTime: at(6)))
        guard let combined = CacheRules().combination(of: entry, new, with: old) else {
            #expect(pieces == "none")
            return
        }
        #expect(combined.pieces.map(describe).joined(separator: " ") == pieces)
        #expect(combined.entry.part.map { describe($0.range) } ?? "all" == range)
        var expected = fields("ETag: \"a\"|A: 1|B: 3|Content-Length: 100")
        expected[.date] = firstDate
        #expect(combined.entry.head.headerFields == expected)
        #expect(combined.entry.head.status == .ok)
        #expect(combined.entry.responseTime == at(6))
    }

    /// The stored range and the new one, of 1,000 bytes: at most 16 bytes are copied for each received one.
    @Test(arguments: [
        ("0-15", "16-16", true), ("0-16", "17-17", false), ("1-17", "0-0", false), ("0-31", "32-33", true),
        ("0-32", "33-34", false), ("0-999", "500-550", false), ("0-999", "500-558", true), ("10-19", "0-999", true),
    ])
    func aSmallPartDoesNotCopyALargeOne(held: String, received: String, isProportionate: Bool) throws {
        let old = try stored("ETag: \"a\"|A: 1|Content-Range: bytes \(held)/1000", status: 206)
        let new = response("ETag: \"a\"|A: 2|Content-Range: bytes \(received)/1000", status: 206)
        let entry = try #require(
            CacheRules().entry(for: new, to: request(), key: try key(), requestTime: at(5), responseTime: at(6)))
        let combined = try #require(CacheRules().combination(of: entry, new, with: old))
        #expect(combined.isProportionate == isProportionate)
        let updated = combined.updating(old)
        #expect(updated.id == old.id && updated.part == old.part && updated.bodySize == old.bodySize)
        #expect(updated.head == combined.entry.head && updated.responseTime == at(6))
    }

    /// Section 3.4: only parts with the same strong validator and length.
    @Test(arguments: [
        ("ETag: \"a\"", "ETag: \"a\"", true), ("ETag: \"a\"", "ETag: \"b\"", false),
        ("ETag: W/\"a\"", "ETag: \"a\"", false),
        ("Last-Modified: {-50s}", "Last-Modified: {-50s}", true),
        ("Last-Modified: {-50s}", "Last-Modified: {-1s}", false),
        ("Last-Modified: {-50s}|Date: {-50s}", "Last-Modified: {-50s}", false),
        ("ETag: \"a\"|Last-Modified: {-50s}", "Last-Modified: {-50s}", false),
        ("Last-Modified: {-50s}", "ETag: \"a\"", false),
        ("ETag: \"a\"|Vary: A", "ETag: \"a\"", false), ("", "ETag: \"a\"", false),
    ])
    func partsNeedTheSameStrongValidator(old: String, new: String, isCombined: Bool) throws {
        let old = try stored(old)
        let response = response(new + "|Content-Range: bytes 10-19/100", status: 206)
        let entry = try #require(
            CacheRules().entry(for: response, to: request(), key: try key(), requestTime: at(5), responseTime: at(6)))
        #expect((CacheRules().combination(of: entry, response, with: old) != nil) == isCombined)
        var longer = old
        longer.bodySize = 101
        #expect(CacheRules().combination(of: entry, response, with: longer) == nil)
    }

    /// Section 2.
    @Test(arguments: [
        ("https://example.com/a", "https://example.com/a"), ("HTTPS://EXAMPLE.com/A", "https://example.com/A"),
        ("https://example.com:443/", "https://example.com/"), ("http://example.com:80", "http://example.com/"),
        ("http://example.com:443/", "http://example.com:443/"), ("https://example.com", "https://example.com/"),
        ("https://example.com?q", "https://example.com/?q"), ("https://example.com/a?", "https://example.com/a?"),
        ("https://example.com/a#f", "https://example.com/a"),
        ("https://example.com/a/../b/./c", "https://example.com/a/../b/./c"),
        ("https://example.com/%61", "https://example.com/%61"), ("https://u:p@example.com/", "https://example.com/"),
        ("https://example.com./", "https://example.com./"), ("https://[::0001]/", "https://[::1]/"),
        ("https://example.com/a?b=c&d", "https://example.com/a?b=c&d"),
    ])
    func keysAreCanonicalURLs(text: String, expected: String) throws {
        let url = try #require(URL(string: text))
        #expect(CacheKey(url)?.description == expected)
    }

    @Test(arguments: ["ftp://example.com/", "/a", "data:,x", "https://127.1/", "https://example.com:0/"])
    func otherURLsHaveNoKey(text: String) throws {
        #expect(CacheKey(try #require(URL(string: text))) == nil)
    }

    @Test func aRequestHasTheKeyOfItsURL() throws {
        let request = HTTPRequest(method: .get, scheme: "HTTPS", authority: "EXAMPLE.com:443", path: "/a?b")
        #expect(CacheKey(request) == (try key("https://example.com/a?b#c")))
        #expect(CacheKey(HTTPRequest(method: .get, scheme: nil, authority: "a", path: "/")) == nil)
        #expect(CacheKey(HTTPRequest(method: .get, scheme: "https", authority: "u@a", path: "/")) == nil)
        #expect(
            CacheKey(HTTPRequest(method: .get, scheme: "http", authority: "a", path: nil))?.description == "http://a/")
    }

    private func describe(_ piece: CombinedResponse.Piece) -> String {
        switch piece {
        case .stored(let range): "s" + describe(range)
        case .received(let range): "r" + describe(range)
        }
    }

    private func describe(_ range: Range<Int64>) -> String { "\(range.lowerBound)-\(range.upperBound - 1)" }
}
