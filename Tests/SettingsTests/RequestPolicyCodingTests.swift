import CommandSupport
import FoundationEssentials
import LinnetSession
import LinnetSettings
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RequestPolicyCodingTests {
    private func coded<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    private func decoded<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    @Test func retryPoliciesSurviveCoding() throws {
        var policy = RetryPolicy.limited(to: 3)
        policy.methods = [.get, .post]
        policy.statusCodes = [503]
        policy.errorCodes = [.timeout, .tlsFailed]
        policy.backoff.first = .milliseconds(1)
        policy.backoff.factor = 1.5
        policy.backoff.maximum = .seconds(2)
        policy.backoff.jitter = 0
        policy.maximumRetryAfter = .seconds(3)
        #expect(unchangedSettings(in: policy, from: RetryPolicy.never) == [])
        #expect(try coded(policy) == policy)
        #expect(try coded(RetryPolicy.never) == .never)
        #expect(try decoded(#"{"limit": 2, "backoff": {}}"#) == RetryPolicy.limited(to: 2))
        #expect(throws: DecodingError.self) { try decoded(#"{"methods": ["G T"]}"#) as RetryPolicy }
        #expect(throws: DecodingError.self) { try decoded(#"{"maximumRetryAfter": 1e99}"#) as RetryPolicy }
        #expect(throws: DecodingError.self) { try decoded(#"{"limits": 1}"#) as RetryPolicy }
        #expect(throws: DecodingError.self) { try decoded(#"{"backoff": {"frist": 1}}"#) as RetryPolicy }
    }

    @Test func redirectPoliciesSurviveCoding() throws {
        for policy in [RedirectPolicy.follow, .follow(limit: 3), .sameOrigin(limit: 4), .doNotFollow] {
            #expect(try coded(policy) == policy)
        }
        #expect(try decoded("{}") == RedirectPolicy.follow)
        #expect(throws: DecodingError.self) { try decoded(#"{"follows": 1}"#) as RedirectPolicy }
        // No policy follows fewer than no redirects.
        #expect(try decoded(#"{"limit": -1}"#) == RedirectPolicy.doNotFollow)
    }
}
