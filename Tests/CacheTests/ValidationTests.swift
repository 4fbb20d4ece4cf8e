import HTTPTypes
import Testing

@testable import LinnetCache

/// RFC 9111, section 4.3.
@Suite(.timeLimit(.minutes(1)))
struct ValidationTests {
    /// Section 4.3.1: the conditions that are sent for stale responses. A response that the request does not match has
    /// `Vary: V`.
    @Test(arguments: [
        (["ETag: \"a\""], "", "If-None-Match: \"a\""), (["ETag: W/\"a\""], "", "If-None-Match: W/\"a\""),
        (["Last-Modified: {-50s}"], "", "If-Modified-Since: {-50s}"),
        (["ETag: \"a\"|Last-Modified: {-50s}"], "", "If-Modified-Since: {-50s}|If-None-Match: \"a\""),
        (["ETag: \"a\"|Last-Modified: x"], "", "If-None-Match: \"a\""), (["Last-Modified: x"], "", ""), ([""], "", ""),
        (["ETag: \"a"], "", ""), (["ETag: a"], "", "If-None-Match: a"),
        // The tags of all stored responses; then no date.
        (["ETag: \"a\"|Last-Modified: {-50s}", "ETag: \"b\"|Vary: V"], "", "If-None-Match: \"a\", \"b\""),
        (["ETag: \"a\"|Vary: V", "ETag: \"b\"|Vary: V"], "", "If-None-Match: \"b\", \"a\""),
        (["ETag: \"a\"|Vary: V", "ETag: \"a\"|Vary: V, X"], "", "If-None-Match: \"a\""),
        (["Last-Modified: {-50s}|Vary: V"], "", ""),
        (["Last-Modified: {-50s}", "ETag: \"b\"|Vary: V"], "", "If-None-Match: \"b\""),
        // Section 4.3.2: the caller's own conditions.
        (["ETag: \"a\""], "If-None-Match: \"x\", \"y\"", "If-None-Match: \"x\", \"y\", \"a\""),
        (["ETag: \"a\""], "If-None-Match: \"a\"", "If-None-Match: \"a\""),
        (["ETag: \"a\""], "If-None-Match: *", "If-None-Match: *"),
        (["Last-Modified: {-50s}"], "If-None-Match: \"x\"", "If-None-Match: \"x\""),
        (["ETag: \"a\""], "If-Modified-Since: {-100s}", "If-None-Match: \"a\""),
        (["Last-Modified: {-50s}"], "If-Modified-Since: {-100s}", "If-Modified-Since: {-50s}"),
        (
            ["ETag: \"a\"|Last-Modified: {-50s}"], "If-Modified-Since: {-100s}",
            "If-Modified-Since: {-50s}|If-None-Match: \"a\""
        ),
        (["ETag: \"a\""], "If-Match: \"a\"", "If-Match: \"a\""),
        (["ETag: \"a\""], "If-None-Match: \"x", "If-None-Match: \"x"),
        // Ranges: tags, but no date.
        (["ETag: \"a\"|Last-Modified: {-50s}"], "Range: bytes=0-9", "If-None-Match: \"a\"|Range: bytes=0-9"),
        (["Last-Modified: {-50s}"], "Range: bytes=0-9", "Range: bytes=0-9"),
        (["ETag: \"a\""], "Range: bytes=0-9,20-29", "Range: bytes=0-9,20-29"),
        (["ETag: \"a\""], "Range: bytes=100-", "Range: bytes=100-"),
    ])
    func theConditionsOfARequest(texts: [String], own: String, expected: String) throws {
        let responses = try texts.enumerated().map { index, text in
            let first = request(text.contains("Vary") ? "V: 1" : "")
            return try stored("Cache-Control: max-age=1|" + text, to: first, id: UInt64(index + 1))
        }
        let decision = CacheRules().decision(for: request(own), among: responses, at: at(5))
        let sent = decision.validation?.applied(to: request(own)) ?? request(own)
        #expect(sent.headerFields == fields(expected))
        #expect(decision.word == (decision.validation == nil ? "load" : "validate"))
    }

    /// Section 4.3.1: a status without representation is not validated.
    @Test func aStoredErrorIsNotValidated() throws {
        let missing = try stored("ETag: \"a\"", status: 404)
        #expect(CacheRules().decision(for: request(), among: [missing], at: at(0)).word == "load")
    }

    /// Section 4.3.4: which responses a 304 response confirms.
    @Test(arguments: [
        // Strong tags: all with the same one.
        (["ETag: \"a\""], "ETag: \"a\"", "1"), (["ETag: \"a\""], "ETag: \"b\"", "unknown"),
        (["ETag: \"a\"", "ETag: \"b\"|Vary: V"], "ETag: \"a\"", "1"),
        (["ETag: \"a\"", "ETag: \"b\"|Vary: V"], "ETag: \"b\"", "2"),
        (["ETag: \"a\"", "ETag: \"a\"|Vary: V"], "ETag: \"a\"", "1 2"),
        // A strong tag whose weak form is stored, the case of nginx for compressed responses.
        (["ETag: W/\"a\""], "ETag: \"a\"", "1"), (["ETag: W/\"a\"", "ETag: \"a\"|Vary: V"], "ETag: \"a\"", "2"),
        // Another variant can be other bytes.
        (["ETag: W/\"a\"|Vary: V"], "ETag: \"a\"", "unknown"), (["ETag: W/\"a\"|Vary: V"], "ETag: W/\"a\"", "1"),
        (["ETag: \"a\"|Last-Modified: {-50s}"], "ETag: \"b\"|Last-Modified: {-50s}", "unknown"),
        // Weak validators: one response.
        (["ETag: W/\"a\""], "ETag: W/\"a\"", "1"), (["ETag: \"a\""], "ETag: W/\"a\"", "1"),
        (["ETag: W/\"a\"", "ETag: W/\"a\"|Vary: V"], "ETag: W/\"a\"", "1"),
        (["ETag: W/\"a\""], "ETag: W/\"b\"", "unknown"),
        (["Last-Modified: {-50s}"], "ETag: \"a\"", "unknown"), (["Last-Modified: {-50s}"], "ETag: W/\"a\"", "unknown"),
        (["Last-Modified: {-50s}"], "Last-Modified: {-50s}", "1"),
        (["Last-Modified: {-50s}"], "Last-Modified: {-1s}", "unknown"),
        (["ETag: \"a\"|Last-Modified: {-50s}", "Vary: V|Last-Modified: {-50s}"], "Last-Modified: {-50s}", "1"),
        (["ETag: \"a\"|Last-Modified: {-50s}"], "Last-Modified: {-50s}", "1"),
        // No validator: it confirms the only candidate.
        (["ETag: \"a\""], "", "1"), (["Last-Modified: {-50s}"], "", "1"),
        (["ETag: \"a\"", "ETag: \"b\"|Vary: V"], "", "unknown"),
    ])
    func aNotModifiedResponseConfirms(texts: [String], text: String, expected: String) throws {
        let responses = try texts.enumerated().map { index, text in
            let first = request(text.contains("Vary") ? "V: 1" : "")
            return try stored("Cache-Control: max-age=1|" + text, to: first, id: UInt64(index + 1))
        }
        #expect(try confirm(responses, response(text, status: 304)) == expected)
    }

    /// Section 4.3.2: a 304 response to tags of the caller and of the cache.
    @Test(arguments: [
        ("\"x\"", "ETag: \"x\"", "not modified"), ("\"x\"", "ETag: \"a\"", "200"), ("\"a\"", "ETag: \"a\"", "304"),
        ("\"x\"", "ETag: \"y\"", "unknown"), ("\"x\"", "", "unknown"), ("\"x\", \"a\"", "ETag: \"a\"", "304"),
    ])
    func theCallerGetsWhatItAskedFor(tags: String, text: String, expected: String) throws {
        let stale = try stored("Cache-Control: max-age=1|ETag: \"a\"")
        let own = request("If-None-Match: \(tags)")
        let validation = try #require(CacheRules().decision(for: own, among: [stale], at: at(5)).validation)
        let outcome = CacheRules().outcome(
            of: response(text, status: 304), to: validation, for: own, among: [stale], requestTime: at(5),
            responseTime: at(6))
        switch outcome {
        case .confirmed(let answer, _, _): #expect("\(answer.head.status.code)" == expected)
        case .notModified: #expect("not modified" == expected)
        default: #expect("unknown" == expected)
        }
    }

    /// Section 3.2: the stored fields, the 304 response's fields, and the result.
    @Test(arguments: [
        ("A: 1|B: 2", "A: 3|C: 4", "A: 3|B: 2|C: 4"), ("A: 1|A: 2", "A: 3", "A: 3"), ("A: 1", "A: 2|A: 3", "A: 2|A: 3"),
        ("Content-Length: 100", "Content-Length: 0", "Content-Length: 100"),
        ("Content-Encoding: gzip", "Content-Encoding: br", "Content-Encoding: gzip"),
        ("Content-Type: text/plain", "Content-Type: text/html", "Content-Type: text/html"),
        ("A: 1", "Connection: A, X|A: 2|X: 3", "A: 1"), ("A: 1", "Transfer-Encoding: chunked", "A: 1"),
        ("Age: 50", "", ""), ("Age: 50", "Age: 7", "Age: 7"), ("Date: {-50s}", "Date: {+60s}", "Date: {+60s}"),
        (
            "Set-Cookie: 1", "Cache-Control: no-cache=\"Set-Cookie\"|Set-Cookie: 2",
            "Cache-Control: no-cache=\"Set-Cookie\""
        ),
        ("Cache-Control: max-age=1", "Cache-Control: max-age=60", "Cache-Control: max-age=60"),
    ])
    func aNotModifiedResponseUpdatesFields(old: String, new: String, expected: String) throws {
        let stale = try stored("ETag: \"a\"|" + old)
        let update = CacheRules().update(
            stale, with: response("ETag: \"a\"|" + new, status: 304), to: request(), times: (at(5), at(6)))
        #expect(update.response.head.headerFields == response("ETag: \"a\"|" + expected).headerFields)
        #expect(update.response.requestTime == at(5))
        #expect(update.response.responseTime == at(6))
        #expect(update.response.head.status == .ok)
    }

    /// The strong tag can belong to the bytes before their compression.
    @Test(arguments: [
        ("W/\"a\"", "\"a\"", "W/\"a\""), ("W/\"a\"", "W/\"b\"", "W/\"b\""), ("\"a\"", "\"b\"", "\"b\""),
    ])
    func aWeakTagStaysWeak(old: String, new: String, expected: String) throws {
        let update = CacheRules().update(
            try stored("ETag: " + old), with: response("ETag: " + new, status: 304), to: request(),
            times: (at(5), at(6)))
        #expect(update.response.head.headerFields[.eTag] == expected)
    }

    /// Section 3.2: Date is the update's, even if the 304 response has none.
    @Test func aConfirmedResponseIsAsOldAsItsConfirmation() throws {
        let stale = try stored("Cache-Control: max-age=60|ETag: \"a\"|Date: {-50s}|Age: 100")
        let update = CacheRules().update(
            stale, with: response("-Date", status: 304), to: request(), times: (at(500), at(502)))
        #expect(CacheRules.age(of: update.response, at: at(510)) == 10)
        #expect(CacheRules().freshness(of: update.response, at: at(510)).isFresh)
    }

    /// A 304 response can forbid keeping the confirmed response.
    @Test(arguments: [
        ("Cache-Control: no-store", false), ("Vary: *", false), ("Cache-Control: max-age=5", true), ("Vary: B", true),
        ("Cache-Control: private", true), ("Cache-Control: no-store|Vary: B", false),
    ])
    func anUpdateMayEndTheStorage(text: String, isKept: Bool) throws {
        let stale = try stored("Cache-Control: max-age=1|ETag: \"a\"", id: 7)
        let validation = try #require(CacheRules().decision(for: request(), among: [stale], at: at(5)).validation)
        let outcome = CacheRules().outcome(
            of: response("ETag: \"a\"|" + text, status: 304), to: validation, for: request("B: 1"), among: [stale],
            requestTime: at(5), responseTime: at(6))
        guard case .confirmed(let answer, let updated, let removed) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(answer.head.status == .ok)
        #expect(updated.map(\.id.rawValue) == (isKept ? [7] : []))
        #expect(removed.map(\.rawValue) == (isKept ? [] : [7]))
        if text == "Vary: B" {
            #expect(updated.first?.variant.matches(request("B: 1")) == true)
            #expect(updated.first?.variant.matches(request("B: 2")) == false)
        }
    }

    /// Section 4.1: the values of other fields are unknown for the request that a response was stored for.
    @Test(arguments: [("Vary: V", true), ("", true), ("Vary: V, B", false), ("Vary: B", false)])
    func anotherVariantStaysUnlessItsFieldsChange(text: String, isKept: Bool) throws {
        let other = try stored("Cache-Control: max-age=60|Vary: V|ETag: \"b\"", to: request("V: 1"))
        let validation = try #require(CacheRules().decision(for: request(), among: [other], at: at(5)).validation)
        let outcome = CacheRules().outcome(
            of: response("ETag: \"b\"|" + text, status: 304), to: validation, for: request(), among: [other],
            requestTime: at(5), responseTime: at(6))
        guard case .confirmed(let answer, let updated, let removed) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(answer.body == 0..<100)
        #expect(updated.map(\.variant) == (isKept ? [other.variant] : []))
        #expect(removed == (isKept ? [] : [other.id]))
    }

    /// Section 4.3.3.
    @Test(arguments: [
        (200, "", "new"), (404, "", "new"), (500, "", "new"), (500, "stale-if-error=60", "stale"),
        (503, "stale-if-error=60", "stale"), (200, "stale-if-error=60", "new"), (429, "stale-if-error=60", "new"),
    ])
    func anotherStatusAnswersItself(status: Int, directives: String, expected: String) throws {
        let stale = try stored("Cache-Control: max-age=1, \(directives)|ETag: \"a\"")
        let validation = try #require(CacheRules().decision(for: request(), among: [stale], at: at(5)).validation)
        let outcome = CacheRules().outcome(
            of: response(status: status), to: validation, for: request(), among: [stale], requestTime: at(5),
            responseTime: at(6))
        switch outcome {
        case .stale(let answer): #expect(expected == "stale" && answer.isStale)
        default: #expect(outcome == .new && expected == "new")
        }
    }

    private func confirm(_ responses: [StoredResponse], _ response: HTTPResponse) throws -> String {
        let validation = try #require(CacheRules().decision(for: request(), among: responses, at: at(5)).validation)
        let outcome = CacheRules().outcome(
            of: response, to: validation, for: request(), among: responses, requestTime: at(5), responseTime: at(6))
        guard case .confirmed(let answer, let updated, let removed) = outcome else { return "\(outcome)" }
        #expect(answer.source.id == updated.first?.id)
        #expect(removed.isEmpty)
        return updated.map { "\($0.id.rawValue)" }.joined(separator: " ")
    }
}
