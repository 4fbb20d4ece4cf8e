import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetCache

/// RFC 9111, section 4.
@Suite(.timeLimit(.minutes(1)))
struct DecisionTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let section: String
        let response: String
        let age: Double
        let request: String
        let isShared: Bool
        let expected: String

        init(
            _ section: String, _ response: String, age: Double, request: String = "", shared: Bool = false,
            _ expected: String
        ) {
            (self.section, self.response, self.age) = (section, response, age)
            (self.request, isShared, self.expected) = (request, shared, expected)
        }

        var testDescription: String {
            "\(section): [\(request)] with [\(response)] at \(age) s, \(isShared ? "shared" : "private")"
        }
    }

    @Test(arguments: [
        // Section 4: fresh, stale, to be validated.
        Case("4", "Cache-Control: max-age=60", age: 59, "hit"), Case("4", "Cache-Control: max-age=60", age: 60, "load"),
        Case("4", "Cache-Control: max-age=60|ETag: \"a\"", age: 60, "validate"),
        Case("4", "Cache-Control: max-age=60|Last-Modified: {-100s}", age: 60, "validate"),
        Case("4", "Expires: {+60s}", age: 59, "hit"), Case("4", "Expires: {+60s}|ETag: \"a\"", age: 60, "validate"),
        Case("4", "ETag: \"a\"", age: 0, "validate"), Case("4", "", age: 0, "load"),
        Case("4.2.2", "Last-Modified: {-100s}", age: 9, "hit"),
        Case("4.2.2", "Last-Modified: {-100s}", age: 10, "validate"),
        Case("4.2.3", "Cache-Control: max-age=60|Age: 60|ETag: \"a\"", age: 0, "validate"),
        Case("4.2.3", "Cache-Control: max-age=60|Age: 30", age: 29, "hit"),
        // Section 5.2.2.4.
        Case("5.2.2.4", "Cache-Control: max-age=60, no-cache|ETag: \"a\"", age: 0, "validate"),
        Case("5.2.2.4", "Cache-Control: max-age=60, no-cache", age: 0, "load"),
        Case("5.2.2.4", "Cache-Control: max-age=60, no-cache=\"Set-Cookie\"", age: 0, "hit"),
        Case("5.2.2.4", "Cache-Control: no-cache|ETag: \"a\"", age: 0, request: "Cache-Control: max-stale", "validate"),
        // Section 5.2.1.4 and 5.4.
        Case(
            "5.2.1.4", "Cache-Control: max-age=60|ETag: \"a\"", age: 0, request: "Cache-Control: no-cache", "validate"),
        Case("5.4", "Cache-Control: max-age=60|ETag: \"a\"", age: 0, request: "Pragma: no-cache", "validate"),
        Case("5.4", "Cache-Control: max-age=60", age: 0, request: "Pragma: no-cache|Cache-Control: x", "hit"),
        Case("5.4", "Cache-Control: max-age=60|Pragma: no-cache", age: 0, "hit"),
        // Section 5.2.1.1: max-age.
        Case("5.2.1.1", "Cache-Control: max-age=60", age: 10, request: "Cache-Control: max-age=10", "hit"),
        Case("5.2.1.1", "Cache-Control: max-age=60", age: 11, request: "Cache-Control: max-age=10", "load"),
        Case("5.2.1.1", "Cache-Control: max-age=60", age: 0, request: "Cache-Control: max-age=0", "hit"),
        Case(
            "5.2.1.1", "Cache-Control: max-age=60|ETag: \"a\"", age: 1, request: "Cache-Control: max-age=0", "validate"),
        Case(
            "5.2.1.1", "Cache-Control: max-age=60|ETag: \"a\"", age: 61, request: "Cache-Control: max-age=99",
            "validate"),
        Case(
            "5.2.1.1", "Cache-Control: max-age=60", age: 20, request: "Cache-Control: max-age=10, max-stale=10", "hit"),
        Case(
            "5.2.1.1", "Cache-Control: max-age=60", age: 21, request: "Cache-Control: max-age=10, max-stale=10", "load"),
        // Section 5.2.1.2: max-stale.
        Case("5.2.1.2", "Cache-Control: max-age=60", age: 70, request: "Cache-Control: max-stale=10", "stale"),
        Case("5.2.1.2", "Cache-Control: max-age=60", age: 71, request: "Cache-Control: max-stale=10", "load"),
        Case("5.2.1.2", "Cache-Control: max-age=60", age: 9e9, request: "Cache-Control: max-stale", "stale"),
        Case("5.2.1.2", "Cache-Control: max-age=60", age: 61, request: "Cache-Control: max-stale=x", "load"),
        Case("5.2.1.2", "ETag: \"a\"", age: 5, request: "Cache-Control: max-stale=5", "stale"),
        // Section 5.2.1.3: min-fresh.
        Case("5.2.1.3", "Cache-Control: max-age=60", age: 50, request: "Cache-Control: min-fresh=10", "hit"),
        Case("5.2.1.3", "Cache-Control: max-age=60", age: 51, request: "Cache-Control: min-fresh=10", "load"),
        Case("5.2.1.3", "Cache-Control: max-age=60", age: 0, request: "Cache-Control: min-fresh=61", "load"),
        Case("5.2.1.3", "Cache-Control: max-age=60", age: 0, request: "Cache-Control: min-fresh=x", "load"),
        Case(
            "5.2.1.3", "Cache-Control: max-age=60", age: 50, request: "Cache-Control: min-fresh=10, max-age=40", "load"),
        // Section 5.2.1.5: a stored response may answer a request with no-store.
        Case("5.2.1.5", "Cache-Control: max-age=60", age: 0, request: "Cache-Control: no-store", "hit"),
        // Section 5.2.1.7.
        Case("5.2.1.7", "Cache-Control: max-age=60", age: 0, request: "Cache-Control: only-if-cached", "hit"),
        Case(
            "5.2.1.7", "Cache-Control: max-age=60|ETag: \"a\"", age: 60, request: "Cache-Control: only-if-cached",
            "unsatisfiable"),
        Case(
            "5.2.1.7", "Cache-Control: max-age=60", age: 61, request: "Cache-Control: only-if-cached, max-stale",
            "stale"),
        Case("5.2.1.7", "Cache-Control: no-cache", age: 0, request: "Cache-Control: only-if-cached", "unsatisfiable"),
        Case(
            "5.2.1.7", "Cache-Control: max-age=1, stale-while-revalidate=9|ETag: \"a\"", age: 5,
            request: "Cache-Control: only-if-cached", "stale"),
        // Section 5.2.2.2: must-revalidate.
        Case("5.2.2.2", "Cache-Control: max-age=60, must-revalidate", age: 59, "hit"),
        Case(
            "5.2.2.2", "Cache-Control: max-age=60, must-revalidate", age: 61, request: "Cache-Control: max-stale",
            "load"),
        Case(
            "5.2.2.2", "Cache-Control: max-age=60, must-revalidate", age: 20,
            request: "Cache-Control: max-age=10, max-stale", "hit"),
        // Section 5.2.2.8: proxy-revalidate, and section 5.2.2.10: s-maxage.
        Case(
            "5.2.2.8", "Cache-Control: max-age=60, proxy-revalidate", age: 61, request: "Cache-Control: max-stale",
            "stale"),
        Case(
            "5.2.2.8", "Cache-Control: max-age=60, proxy-revalidate", age: 61, request: "Cache-Control: max-stale",
            shared: true, "load"),
        Case("5.2.2.10", "Cache-Control: max-age=9, s-maxage=60", age: 59, shared: true, "hit"),
        Case("5.2.2.10", "Cache-Control: max-age=9, s-maxage=60", age: 59, "load"),
        Case(
            "5.2.2.10", "Cache-Control: s-maxage=60", age: 61, request: "Cache-Control: max-stale", shared: true, "load"
        ),
        Case(
            "5.2.2.10", "Cache-Control: max-age=60, s-maxage=5", age: 61, request: "Cache-Control: max-stale", "stale"),
        // RFC 5861, section 3: stale-while-revalidate.
        Case(
            "5861 3", "Cache-Control: max-age=60, stale-while-revalidate=10|ETag: \"a\"", age: 70, "stale, validating"),
        Case("5861 3", "Cache-Control: max-age=60, stale-while-revalidate=10", age: 70, "stale, validating"),
        Case("5861 3", "Cache-Control: max-age=60, stale-while-revalidate=10|ETag: \"a\"", age: 71, "validate"),
        Case("5861 3", "Cache-Control: max-age=60, stale-while-revalidate=10", age: 59, "hit"),
        Case("5861 3", "Cache-Control: max-age=60, stale-while-revalidate=10, must-revalidate", age: 61, "load"),
        Case(
            "5861 3", "Cache-Control: max-age=60, stale-while-revalidate=10", age: 61,
            request: "Cache-Control: max-age=99", "load"),
        Case(
            "5861 3", "Cache-Control: max-age=60, stale-while-revalidate=10", age: 61,
            request: "Cache-Control: min-fresh=0", "load"),
        Case(
            "5861 3", "Cache-Control: max-age=60, stale-while-revalidate=10", age: 61,
            request: "Cache-Control: no-cache", "load"),
        Case("5861 3", "Cache-Control: s-maxage=60, stale-while-revalidate=10", age: 61, shared: true, "load"),
        Case(
            "5861 3", "Cache-Control: max-age=60, stale-while-revalidate=10", age: 65,
            request: "Cache-Control: max-stale=9", "stale"),
        // RFC 8246, section 2: immutable.
        Case(
            "8246 2", "Cache-Control: max-age=60, immutable|ETag: \"a\"", age: 30, request: "Cache-Control: max-age=0",
            "hit"),
        Case(
            "8246 2", "Cache-Control: max-age=60, immutable|ETag: \"a\"", age: 30, request: "Cache-Control: no-cache",
            "validate"),
        Case("8246 2", "Cache-Control: max-age=60, immutable|ETag: \"a\"", age: 60, "validate"),
        Case(
            "8246 2", "Cache-Control: max-age=60, immutable|ETag: \"a\"", age: 55,
            request: "Cache-Control: min-fresh=10", "validate"),
        Case("8246 2", "Cache-Control: max-age=60, immutable, no-cache|ETag: \"a\"", age: 0, "validate"),
    ])
    func aStoredResponseAnswersOrNot(_ test: Case) throws {
        let rules = CacheRules(isShared: test.isShared)
        let response = try stored(test.response, rules: rules)
        let decision = rules.decision(for: request(test.request), among: [response], at: at(test.age))
        #expect(decision.word == test.expected)
        guard test.request.isEmpty, response.variant.isEmpty else { return }
        // The same decision with less work, for plain requests.
        let hit: HTTPResponse? =
            if case .answer(let answer, validating: nil) = decision, !answer.isStale { answer.head } else { nil }
        #expect(rules.freshHead(of: response, at: at(test.age)) == hit)
    }

    /// RFC 8246, section 3: only over connections that nothing can change.
    @Test func immutableNeedsASecureConnection() throws {
        let response = try stored("Cache-Control: max-age=60, immutable|ETag: \"a\"", url: "http://example.com/a")
        let reload = request("Cache-Control: max-age=0")
        #expect(CacheRules().decision(for: reload, among: [response], at: at(1)).word == "validate")
    }

    /// RFC 9111, section 4: the methods that a stored response to GET answers.
    @Test(arguments: [
        ("GET", "hit"), ("HEAD", "hit"), ("POST", "bypass"), ("PUT", "bypass"), ("DELETE", "bypass"),
        ("PATCH", "bypass"),
        ("OPTIONS", "bypass"), ("TRACE", "bypass"), ("get", "bypass"), ("FOO", "bypass"),
    ])
    func onlyGetAndHeadAreAnswered(method: String, expected: String) throws {
        let response = try stored("Cache-Control: max-age=60")
        let method = try #require(HTTPRequest.Method(rawValue: method))
        let decision = CacheRules().decision(for: request(method: method), among: [response], at: at(0))
        #expect(decision.word == expected)
        let strict = CacheRules().decision(
            for: request("Cache-Control: only-if-cached", method: method), among: [response], at: at(0))
        #expect(strict.word == (expected == "hit" ? "hit" : "unsatisfiable"))
    }

    @Test func nothingStoredIsAMiss() {
        #expect(CacheRules().decision(for: request(), among: [], at: at(0)).word == "load")
        let strict = request("Cache-Control: only-if-cached")
        #expect(CacheRules().decision(for: strict, among: [], at: at(0)) == .unsatisfiable)
    }

    /// RFC 9111, sections 4 and 5.1: Age replaces the response's Age, and Warning is not written.
    @Test(arguments: [("Age: 5", 10.0, "15"), ("", 0.9, "0"), ("", 59.9, "59"), ("Date: {-50s}", 1.0, "51")])
    func anAnswerHasItsAge(text: String, now: Double, expected: String) throws {
        let response = try stored("Cache-Control: max-age=999|" + text)
        let decision = CacheRules().decision(for: request(), among: [response], at: at(now))
        let answer = try #require(decision.answer)
        #expect(answer.head.headerFields[values: .age] == [expected])
        #expect(answer.body == 0..<100)
    }

    @Test func anAnswerToHeadHasNoBody() throws {
        let response = try stored("Cache-Control: max-age=60|Content-Length: 100")
        let decision = CacheRules().decision(for: request(method: .head), among: [response], at: at(0))
        let answer = try #require(decision.answer)
        #expect(answer.body == nil)
        #expect(answer.head.status == .ok)
        #expect(answer.head.headerFields[.contentLength] == "100")
    }

    /// RFC 5861, section 4: a stale response after an error. `0` is no response at all.
    @Test(arguments: [
        ("stale-if-error=10", "", 500, 70.0, true), ("stale-if-error=10", "", 502, 70, true),
        ("stale-if-error=10", "", 503, 70, true), ("stale-if-error=10", "", 504, 70, true),
        ("stale-if-error=10", "", 0, 70, true), ("stale-if-error=10", "", 501, 70, false),
        ("stale-if-error=10", "", 404, 70, false), ("stale-if-error=10", "", 200, 70, false),
        ("stale-if-error=10", "", 500, 71, false), ("", "stale-if-error=10", 500, 70, true),
        ("", "stale-if-error=10", 500, 71, false), ("stale-if-error=5", "stale-if-error=10", 500, 70, true),
        ("", "", 500, 61, false), ("stale-if-error=10, must-revalidate", "", 500, 61, false),
        ("stale-if-error=10, no-cache", "", 500, 1, false), ("stale-if-error=10", "no-cache", 500, 61, false),
        ("stale-if-error=x", "", 500, 61, false), ("stale-if-error=10", "max-age=5", 0, 30, true),
    ])
    func aStaleResponseAnswersAfterAnError(
        directives: String, ownDirectives: String, status: Int, now: Double, isUsed: Bool
    ) throws {
        let response = try stored("Cache-Control: max-age=60, \(directives)|ETag: \"a\"")
        let own = request("Cache-Control: \(ownDirectives)")
        let status = status == 0 ? nil : HTTPResponse.Status(code: status)
        let answer = CacheRules().answer(afterFailureOf: own, status: status, among: [response], at: at(now))
        #expect((answer != nil) == isUsed)
    }
}
