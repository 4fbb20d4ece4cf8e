import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetCache

/// RFC 9111, section 4.1.
@Suite(.timeLimit(.minutes(1)))
struct VaryTests {
    /// Octets that are not UTF-8.
    @Test func aValueOfOtherOctetsIsAnotherVariant() throws {
        let requests = [[0xE9], [0xE8], [0xC3, 0xA9]].map { (octets: [UInt8]) in
            var request = request()
            request.headerFields.append(HTTPField(name: .accept, value: octets))
            return request
        }
        let response = try stored("Vary: Accept|Cache-Control: max-age=9", to: requests[0])
        #expect(requests.map { response.variant.matches($0) } == [true, false, false])
    }

    /// Each case: Vary, the fields of the first request, the fields of the next one, and whether it matches.
    @Test(arguments: [
        ("Accept", "Accept: a", "Accept: a", true), ("Accept", "Accept: a", "Accept: b", false),
        ("accept", "ACCEPT: a", "Accept: a", true), ("Accept", "Accept: a|X: 1", "Accept: a|X: 2", true),
        ("", "Accept: a", "Accept: b", true),
        // Absent only matches absent.
        ("Accept", "", "", true), ("Accept", "", "Accept: a", false), ("Accept", "Accept: a", "", false),
        ("Accept", "Accept: ", "", false), ("Accept", "Accept: ", "Accept: ", true),
        // Several names; their order and repetition do not matter.
        ("A, B", "A: 1|B: 2", "B: 2|A: 1", true), ("A, B", "A: 1|B: 2", "A: 1|B: 3", false),
        ("A,,a , A", "A: 1", "A: 1", true), ("A, B", "A: 1", "A: 1|B: ", false),
        // Blanks around a value, and a field in several lines.
        ("A", "A: 1", "A: 1 ", true), ("A", "A: 1, 2", "A: 1|A: 2", true), ("A", "A: 1|A: 2", "A: 2|A: 1", false),
        // Lists of tokens: blanks and case; the order counts.
        ("Accept-Encoding", "Accept-Encoding: gzip, br", "Accept-Encoding: gzip,br", true),
        ("Accept-Encoding", "Accept-Encoding: gzip, br", "Accept-Encoding: GZIP ,\tBr,", true),
        ("Accept-Encoding", "Accept-Encoding: gzip|Accept-Encoding: br", "Accept-Encoding: gzip,br", true),
        ("Accept-Encoding", "Accept-Encoding: gzip, br", "Accept-Encoding: br, gzip", false),
        ("Accept-Language", "Accept-Language: de-DE;q=0.5", "Accept-Language: de-de; q=0.5", true),
        ("Accept-Charset", "Accept-Charset: UTF-8", "Accept-Charset: utf-8", true),
        // Other fields: case and inner blanks may have a meaning.
        ("Accept", "Accept: text/html;a=B", "Accept: text/html;a=b", false),
        ("User-Agent", "User-Agent: a (b, c)", "User-Agent: a (b,c)", false),
        ("Cookie", "Cookie: a=B", "Cookie: a=b", false),
    ])
    func requestsMatch(vary: String, first: String, next: String, matches: Bool) throws {
        let response = try stored("Cache-Control: max-age=60|Vary: \(vary)", to: request(first))
        #expect(response.variant.matches(request(next)) == matches)
        let decision = CacheRules().decision(for: request(next), among: [response], at: at(1))
        #expect(decision.word == (matches ? "hit" : "load"))
    }

    /// Section 4.1: a response with Vary is preferred, then the latest Date, then the last stored one.
    @Test(arguments: [
        (["Date: {-50s}", "Date: {now}"], 2), (["Date: {now}", "Date: {-50s}"], 1), (["", ""], 2),
        (["Vary: A|Date: {-50s}", "Date: {now}"], 1), (["Vary: A|Date: {-50s}", "Vary: A|Date: {-100s}"], 1),
        (["Vary: B|Date: {now}", "Vary: A|Date: {-50s}"], 1), (["Vary: A", "Vary: A, B"], 2),
        (["Date: {-50s}", "Date: {now}", "Date: {-100s}"], 2),
    ])
    func thePreferredResponseAnswers(texts: [String], expected: Int) throws {
        let all = try texts.enumerated().map { index, text in
            try stored("Cache-Control: max-age=999|" + text, id: UInt64(index + 1))
        }
        for responses in [all, all.reversed()] {
            let decision = CacheRules().decision(for: request(), among: responses, at: at(1))
            #expect(decision.answer?.source.id.rawValue == UInt64(expected))
        }
    }

    /// A store on disk numbers its entries at random.
    @Test func ofOneDateTheResponseReceivedLastAnswersWhateverItsNumber() throws {
        let earlier = try stored("ETag: \"1\"|Cache-Control: no-cache", id: 9)
        let later = try stored("ETag: \"2\"|Cache-Control: no-cache", id: 3, responseTime: 1)
        #expect(CacheRules.selected(for: request(), among: [earlier, later]).map(\.id.rawValue) == [3, 9])
        let decision = CacheRules().decision(for: request(), among: [earlier, later], at: at(2))
        #expect(decision.validation?.fields[.ifNoneMatch] == "\"2\", \"1\"")
    }

    @Test func aStaleVariantDoesNotHideThePreferenceForIt() throws {
        let stale = try stored("Cache-Control: max-age=1|Vary: A|ETag: \"v\"", id: 1)
        let fresh = try stored("Cache-Control: max-age=99|ETag: \"f\"|Date: {-1s}", id: 2)
        let decision = CacheRules().decision(for: request(), among: [fresh, stale], at: at(9))
        #expect(decision.validation?.fields[.ifNoneMatch] == "\"v\", \"f\"")
    }

    @Test(arguments: [(64, nil), (65, .vary)] as [(Int, CacheRules.Refusal?)])
    func aVariantHasAtMostSixtyFourNames(count: Int, refusal: CacheRules.Refusal?) {
        let names = (0..<count).map { "n\($0)" }.joined(separator: ",")
        #expect(CacheRules().refusal(of: response("Vary: " + names), to: request()) == refusal)
    }

    @Test func aVariantTellsWhichOfItsFieldsTheRequestHas() throws {
        let variant = try stored("Vary: Cookie, Accept, A", to: request("Cookie: a=b|A: ")).variant
        #expect(variant.presentNames == ["a", "cookie"])
    }

    @Test func variantsSurviveCoding() throws {
        let variant = try stored("Vary: A, Accept-Encoding", to: request("A: 1|Accept-Encoding: gzip")).variant
        let data = try JSONEncoder().encode(variant)
        #expect(try JSONDecoder().decode(StoredResponse.Variant.self, from: data) == variant)
    }
}
