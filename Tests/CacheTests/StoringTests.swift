import HTTPTypes
import Testing

@testable import LinnetCache

/// RFC 9111, section 3.
@Suite(.timeLimit(.minutes(1)))
struct StoringTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let section: String
        let response: String
        var status = 200
        var request = ""
        var method = "GET"
        var isShared = false
        let expected: CacheRules.Refusal?

        init(
            _ section: String, _ response: String, status: Int = 200, request: String = "", method: String = "GET",
            shared: Bool = false, _ expected: CacheRules.Refusal?
        ) {
            self.section = section
            self.response = response
            self.status = status
            self.request = request
            self.method = method
            isShared = shared
            self.expected = expected
        }

        var testDescription: String {
            "\(section): \(method) \(request) -> \(status) \(response), \(isShared ? "shared" : "private")"
        }
    }

    @Test(arguments: [
        // Section 3: the method and the status.
        Case("3", "", nil), Case("3", "Cache-Control: max-age=5", method: "POST", .method),
        Case("3", "Cache-Control: max-age=5", method: "HEAD", .method),
        Case("3", "Cache-Control: max-age=5", method: "PUT", .method),
        Case("3", "Cache-Control: max-age=5", status: 103, .status),
        Case("3", "Cache-Control: max-age=5", status: 304, .status),
        // Section 3 and RFC 9110, section 15.1: statuses that are cacheable without an expiration.
        Case("15.1", "", status: 203, nil), Case("15.1", "", status: 204, nil), Case("15.1", "", status: 300, nil),
        Case("15.1", "", status: 301, nil), Case("15.1", "", status: 308, nil), Case("15.1", "", status: 404, nil),
        Case("15.1", "", status: 405, nil), Case("15.1", "", status: 410, nil), Case("15.1", "", status: 414, nil),
        Case("15.1", "", status: 501, nil), Case("15.1", "", status: 201, .notCacheable),
        Case("15.1", "", status: 302, .notCacheable), Case("15.1", "", status: 307, .notCacheable),
        Case("15.1", "", status: 400, .notCacheable), Case("15.1", "", status: 500, .notCacheable),
        Case("15.1", "", status: 503, .notCacheable), Case("15.1", "", status: 299, .notCacheable),
        // Section 3: other statuses need an explicit permission.
        Case("3", "Cache-Control: max-age=5", status: 302, nil), Case("3", "Cache-Control: public", status: 302, nil),
        Case("3", "Expires: 0", status: 302, nil), Case("3", "Cache-Control: private", status: 302, nil),
        Case("3", "Cache-Control: private=\"a\"", status: 302, shared: true, .notCacheable),
        Case("3", "Cache-Control: s-maxage=5", status: 302, .notCacheable),
        Case("3", "Cache-Control: s-maxage=5", status: 302, shared: true, nil),
        Case("3", "Cache-Control: max-age=5", status: 599, nil),
        Case("3", "Cache-Control: foo", status: 302, .notCacheable),
        // Sections 5.2.1.5 and 5.2.2.5.
        Case("5.2.2.5", "Cache-Control: no-store", .noStore),
        Case("5.2.2.5", "Cache-Control: max-age=5, no-store", .noStore),
        Case("5.2.1.5", "Cache-Control: max-age=5", request: "Cache-Control: no-store", .noStoreInRequest),
        // Section 5.2.2.3.
        Case("5.2.2.3", "Cache-Control: must-understand, no-store, max-age=5", nil),
        Case("5.2.2.3", "Cache-Control: must-understand, no-store, max-age=5", status: 299, .status),
        Case("5.2.2.3", "Cache-Control: must-understand, max-age=5", status: 404, nil),
        Case("5.2.2.3", "Cache-Control: must-understand, no-store, max-age=5", status: 302, nil),
        Case("5.2.2.3", "Cache-Control: must-understand, no-store, max-age=5", status: 504, nil),
        // Section 5.2.2.7.
        Case("5.2.2.7", "Cache-Control: private, max-age=5", nil),
        Case("5.2.2.7", "Cache-Control: private, max-age=5", shared: true, .isPrivate),
        Case("5.2.2.7", "Cache-Control: private=\"a\", max-age=5", shared: true, nil),
        Case("5.2.2.7", "Cache-Control: private=\"a\", private, max-age=5", shared: true, .isPrivate),
        // Section 3.5.
        Case("3.5", "Cache-Control: max-age=5", request: "Authorization: Basic x", nil),
        Case("3.5", "Cache-Control: max-age=5", request: "Authorization: Basic x", shared: true, .authorization),
        Case("3.5", "Cache-Control: public", request: "Authorization: Basic x", shared: true, nil),
        Case("3.5", "Cache-Control: s-maxage=5", request: "Authorization: Basic x", shared: true, nil),
        Case("3.5", "Cache-Control: must-revalidate", request: "Authorization: Basic x", shared: true, nil),
        Case("3.5", "Cache-Control: proxy-revalidate", request: "Authorization: a b", shared: true, .authorization),
        Case("3.5", "Cache-Control: public, private", request: "Authorization: a b", shared: true, .isPrivate),
        // Section 5.2.2.4: no-cache responses are stored, to be validated.
        Case("5.2.2.4", "Cache-Control: no-cache", nil), Case("5.2.2.4", "Cache-Control: no-cache=\"a\"", nil),
        // Section 4.1.
        Case("4.1", "Vary: *", .vary), Case("4.1", "Vary: Accept, *", .vary), Case("4.1", "Vary: a b", .vary),
        Case("4.1", "Vary: Accept", nil), Case("4.1", "Vary: ", nil), Case("4.1", "Vary: a|Vary: *", .vary),
        // Section 3.3.
        Case("3.3", "Content-Range: bytes 0-9/100|ETag: \"a\"", status: 206, nil),
        Case("3.3", "Content-Range: bytes 0-9/100|ETag: W/\"a\"", status: 206, .part),
        Case("3.3", "Content-Range: bytes 0-9/100", status: 206, .part),
        Case("3.3", "Content-Range: bytes 0-9/100|Last-Modified: {-100s}", status: 206, nil),
        Case("3.3", "Content-Range: bytes 0-9/100|Last-Modified: {now}", status: 206, .part),
        Case("3.3", "Content-Range: bytes 0-9/*|ETag: \"a\"", status: 206, .part),
        Case("3.3", "Content-Range: items 0-9/100|ETag: \"a\"", status: 206, .part),
        Case("3.3", "ETag: \"a\"|Content-Type: multipart/byteranges; boundary=x", status: 206, .part),
        Case("14.4", "Content-Range: bytes 9-0/100|ETag: \"a\"", status: 206, .part),
        Case("14.4", "Content-Range: bytes 0-100/100|ETag: \"a\"", status: 206, .part),
        Case("14.4", "Content-Range: bytes 0-9//100|ETag: \"a\"", status: 206, .part),
        Case("14.4", "Content-Range: bytes -0-9/100|ETag: \"a\"", status: 206, .part),
        Case("14.4", "Content-Range: bytes */100|ETag: \"a\"", status: 206, .part),
        Case("14.4", "Content-Range: bytes 0-9/99999999999999999999|ETag: \"a\"", status: 206, .part),
    ])
    func aResponseIsStoredOrRefused(_ test: Case) throws {
        let rules = CacheRules(isShared: test.isShared)
        let method = try #require(HTTPRequest.Method(rawValue: test.method))
        let (request, response) = (request(test.request, method: method), response(test.response, status: test.status))
        #expect(rules.refusal(of: response, to: request) == test.expected)
        let entry = rules.entry(
            for: response, to: request, key: try key(), requestTime: at(0), responseTime: at(0))
        #expect((entry == nil) == (test.expected != nil))
        #expect(!rules.refuses(response) || test.expected != nil)
        if let reason = test.expected, [.noStore, .notCacheable].contains(reason) { #expect(rules.refuses(response)) }
    }

    /// RFC 9111, section 3.1: each case is the response's fields and the names of the stored ones.
    @Test(arguments: [
        ("A: 1|B: 2", false, "a b date"), ("Connection: x, keep-alive|X: 1|Keep-Alive: 5|B: 2", false, "b date"),
        ("Transfer-Encoding: chunked|Upgrade: h2c|Trailer: X|TE: x", false, "date"),
        (
            "Proxy-Authenticate: a|Proxy-Authentication-Info: b|Proxy-Authorization: c|Proxy-Connection: d", false,
            "date"
        ),
        ("Cache-Control: private=\"X-User\", max-age=5|X-User: 1", false, "cache-control date x-user"),
        ("Cache-Control: private=\"X-User\", max-age=5|X-User: 1", true, "cache-control date"),
        ("Cache-Control: no-cache=\"Set-Cookie, B\"|Set-Cookie: 1|B: 2|C: 3", false, "c cache-control date"),
        ("Warning: 110 - x|ETag: \"a\"", false, "date etag"), ("Set-Cookie: a=1|B: 2", false, "b date"),
        ("Connection: cache-control, date|Cache-Control: no-cache", false, "cache-control date"),
        ("Cache-Control: no-cache=\"cache-control, vary\"|Vary: A", false, "cache-control date vary"),
    ])
    func someFieldsAreNotStored(text: String, isShared: Bool, expected: String) throws {
        let entry = try stored(text, rules: CacheRules(isShared: isShared))
        #expect(entry.head.headerFields.map(\.name.canonicalName).sorted().joined(separator: " ") == expected)
    }

    /// RFC 9110, section 6.6.1.
    @Test(arguments: [("A: 1-Date", firstDate), ("Date: yesterday", firstDate), ("Date: {-50s}", "{-50s}")])
    func aResponseWithoutAValidDateGetsOne(text: String, expected: String) throws {
        #expect(try stored(text).head.headerFields[.date] == fields("Date: \(expected)")[.date])
    }

    /// RFC 9111, section 3.3: a part is stored as the whole response.
    @Test func aPartIsStoredAsAnIncompleteResponse() throws {
        let part = try stored(
            "Content-Range: bytes 10-19/100|Content-Length: 10|ETag: \"a\"|Content-Type: text/plain", status: 206)
        #expect(part.head.status == .ok)
        #expect(part.head.headerFields[.contentRange] == nil)
        #expect(part.head.headerFields[.contentLength] == "100")
        #expect(part.part == StoredResponse.Part(range: 10..<20, total: 100))
    }

    @Test func anEntryHasNoIdentifierBeforeItIsStored() throws {
        let entry = CacheRules().entry(
            for: response(), to: request(), key: try key(), requestTime: at(0), responseTime: at(0))
        #expect(entry?.id.rawValue == 0)
    }

    /// The estimate by which stores limit their space.
    @Test func anEntrysSizeIsItsTextsAndSixtyFourBytesForEachField() throws {
        let texts = url.utf8.count + "Date".count + firstDate.utf8.count
        #expect(try stored("", size: 100).size == 100 + 256 + Int64(texts + 64))
        // The variant has the value of one of the two fields.
        let variant = "Vary".count + "Ab, Cd".count + "ab".count + "123".count + "cd".count
        #expect(
            try stored("Vary: Ab, Cd", to: request("Ab: 123"), size: 0).size
                == 256 + Int64(texts + variant + 4 * 64))
    }

    @Test(
        arguments: [
            ("", 200, 0), ("Content-Length: 70", 200, 70), ("Content-Length: x", 200, 0),
            ("Content-Length: 10|Content-Range: bytes 10-19/100|ETag: \"a\"", 206, 10),
        ] as [(String, Int, Int64)])
    func theSizeOfABodyIsKnownFromItsHead(text: String, status: Int, expected: Int64) throws {
        #expect(try stored(text, status: status).expectedBodySize == expected)
    }
}
