import HTTPTypes
import Testing

@testable import LinnetCache

/// NSURLRequest's cache policies.
@Suite(.timeLimit(.minutes(1)))
struct CacheUseTests {
    /// Each case is a stored response, nil for none; the fields of the request; and the decisions for the six policies,
    /// in the order protocolDefined, reload, reloadEverywhere, storedElseLoad, storedOnly, revalidate.
    static let table: [(response: String?, request: String, decisions: [String])] = [
        (nil, "", ["load", "load", "load+", "load", "unsatisfiable", "load+"]),
        ("Cache-Control: max-age=60|ETag: \"a\"", "", ["hit", "load", "load+", "hit", "hit", "validate"]),
        ("Cache-Control: max-age=60", "", ["hit", "load", "load+", "hit", "hit", "load+"]),
        ("Cache-Control: max-age=5|ETag: \"a\"", "", ["validate", "load", "load+", "stale", "stale", "validate"]),
        ("Cache-Control: max-age=5", "", ["load", "load", "load+", "stale", "stale", "load+"]),
        ("Cache-Control: no-cache, max-age=60", "", ["load", "load", "load+", "hit", "hit", "load+"]),
        ("Cache-Control: must-revalidate, max-age=5", "", ["load", "load", "load+", "stale", "stale", "load+"]),
        ("Cache-Control: max-age=60, immutable|ETag: \"a\"", "", ["hit", "load", "load+", "hit", "hit", "validate"]),
        ("", "", ["load", "load", "load+", "stale", "stale", "load+"]),
        // The policy overrides the request's own directives.
        (
            "Cache-Control: max-age=60|ETag: \"a\"", "Cache-Control: no-cache",
            ["validate", "load", "load+", "hit", "hit", "validate"]
        ),
        // A response for another variant does not count.
        (
            "Cache-Control: max-age=60|Vary: Accept", "Accept: a",
            ["load", "load", "load+", "load", "unsatisfiable", "load+"]
        ),
    ]

    @Test(arguments: table.indices)
    func eachPolicyDecides(index: Int) throws {
        let row = Self.table[index]
        let responses = try row.response.map { [try stored($0)] } ?? []
        let decisions = CacheUse.allCases.map {
            CacheRules().decision(for: request(row.request), use: $0, among: responses, at: at(10)).word
        }
        #expect(decisions == row.decisions, "\(row.response ?? "nothing"), \(row.request)")
    }

    /// The request of `reloadIgnoringLocalAndRemoteCacheData` bypasses the caches on its way.
    @Test func reloadingEverywhereTellsOtherCaches() {
        let decision = CacheRules().decision(for: request(), use: .reloadEverywhere, among: [], at: at(0))
        #expect(decision == .load([.cacheControl: "no-cache", .pragma: "no-cache"]))
    }

    /// A cache on the way must not answer either without the server's confirmation (RFC 9111, section 5.2.1.1).
    @Test(
        arguments: [
            (nil, "", "max-age=0"), ("ETag: \"a\"", "", "max-age=0"), ("Last-Modified: {-100s}", "", "max-age=0"),
            ("", "", "max-age=0"), ("ETag: \"a\"|Vary: Accept", "Accept: b", "max-age=0"),
            // The policy overrides the request's directives for stored responses, but not its own `no-store`.
            ("ETag: \"a\"", "Cache-Control: max-stale=9", "max-age=0"),
            ("ETag: \"a\"", "Cache-Control: no-store, max-age=9", "max-age=0, no-store"),
        ] as [(String?, String, String)])
    func revalidationTellsOtherCaches(response: String?, own: String, expected: String) throws {
        let responses = try response.map { [try stored("Cache-Control: max-age=60|\($0)")] } ?? []
        let own = request(own)
        switch CacheRules().decision(for: own, use: .revalidate, among: responses, at: at(0)) {
        case .load(let fields): #expect(fields == [.cacheControl: expected])
        case .validate(let validation):
            #expect(validation.applied(to: own).headerFields[values: .cacheControl] == [expected])
            #expect(!validation.candidates.isEmpty)
        case .bypass, .answer, .unsatisfiable: Issue.record("The request is not sent as it should be.")
        }
    }

    @Test func theFieldsForOtherCachesDependOnTheUse() {
        let own = request("Cache-Control: no-store")
        #expect(CacheRules.fields(of: .protocolDefined, for: own) == [:])
        #expect(CacheRules.fields(of: .storedElseLoad, for: own) == [:])
        #expect(CacheRules.fields(of: .revalidate, for: own) == [.cacheControl: "max-age=0, no-store"])
        #expect(CacheRules.fields(of: .revalidate, for: request()) == [.cacheControl: "max-age=0"])
    }

    @Test(arguments: CacheUse.allCases) func otherMethodsAreSentUnlessOnlyStoredResponsesAreAllowed(use: CacheUse) {
        let decision = CacheRules().decision(for: request(method: .post), use: use, among: [], at: at(0))
        #expect(decision == (use == .storedOnly ? .unsatisfiable : .bypass))
    }

    /// A policy that asks for the server's answer does not take a stale one instead.
    @Test(arguments: CacheUse.allCases) func onlyTheProtocolAllowsStaleResponsesAfterErrors(use: CacheUse) throws {
        let response = try stored("Cache-Control: max-age=1, stale-if-error=60")
        let answer = CacheRules().answer(
            afterFailureOf: request(), use: use, status: nil, among: [response], at: at(5))
        #expect((answer != nil) == (use == .protocolDefined))
    }
}
