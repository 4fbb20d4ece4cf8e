import CommandSupport
import FoundationEssentials
import LinnetMessages
import LinnetSecurity
import LinnetTesting
import Testing

@testable import LinnetSettings

@Suite("Coding profiles", .timeLimit(.minutes(5)))
struct ChainProfileCodingTests {
    private func coded<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    @Test func everySettingSurvives() throws {
        let pki = try TestPKI()
        for base in [ChainProfile.default, .strict, .lenient] {
            #expect(try coded(base) == base)
            var profile = base.allowing(.rsaKeySize).enforcing(.flawedAnchor, .missingKeyUsage)
            profile.keys.minimumRSABits = 4096
            profile.keys.kinds = [.rsa, .rsaPSS]
            profile.keys.signatures = [.rsaSHA256]
            profile.maximumLeafLifetime = .seconds(398 * 86_400)
            profile.maximumDepth = 2
            profile.revocation.lists = [
                try RevocationList(der: pki.revocationList(revoking: [])),
                try RevocationList(der: pki.revocationList(revoking: [], by: .root)),
            ]
            profile.revocation.checksStaple = false
            profile.revocation.honorsMustStaple = false
            profile.revocation.failure = .hard
            profile.revocation.clockSkew = .seconds(1)
            #expect(try coded(profile) == profile)
            #expect(try coded(profile.revocation) == profile.revocation)
            #expect(try coded(profile.keys) == profile.keys)
        }
    }

    @Test func eachRuleSurvives() throws {
        for rule in ChainRule.allCases {
            for profile in [ChainProfile.default.allowing(rule), .lenient.enforcing(rule)] {
                #expect(try coded(profile) == profile, "\(rule)")
            }
        }
        for name in RevocationOptions.Failure.all {
            var options = RevocationOptions()
            options.failure = name
            #expect(try coded(options) == options)
        }
    }

    @Test func defaultsAreOmitted() throws {
        #expect(String(decoding: try JSONEncoder().encode(ChainProfile.default), as: UTF8.self) == "{}")
        #expect(String(decoding: try JSONEncoder().encode(ChainProfile.KeyRequirements()), as: UTF8.self) == "{}")
        #expect(String(decoding: try JSONEncoder().encode(RevocationOptions()), as: UTF8.self) == "{}")
    }

    @Test func unknownNamesAreErrors() {
        for text in [#"{"profile": "lax"}"#, #"{"enforcedRules": ["x"]}"#, #"{"rules": []}"#] {
            #expect(throws: SecurityError.self, "\(text)") {
                try JSONDecoder().decode(ChainProfile.self, from: Data(text.utf8))
            }
        }
        for text in [#"{"kinds": ["DSA"]}"#, #"{"signatures": ["RSA with MD5"]}"#, #"{"bits": 1}"#] {
            #expect(throws: SecurityError.self, "\(text)") {
                try JSONDecoder().decode(ChainProfile.KeyRequirements.self, from: Data(text.utf8))
            }
        }
    }

    // MARK: Durations

    @Test func durationsAreNumbersOfSeconds() {
        for (duration, seconds) in [
            (Duration.zero, 0.0), (.seconds(30), 30), (.milliseconds(300), 0.3), (.nanoseconds(1), 1e-9),
            (.milliseconds(-1500), -1.5), (.seconds(398 * 86_400), 34_387_200),
            (.seconds(34_387_200) + .milliseconds(7), 34_387_200.007),
        ] {
            #expect(duration.codedSeconds == seconds)
            #expect(Duration(codedSeconds: seconds) == duration)
        }
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, -2e12] {
            #expect(Duration(codedSeconds: seconds) == nil)
        }
    }

    @Test func durationsSurviveToTheNanosecond() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SplitMix(seed: seed)
        for _ in 0..<20_000 {
            let short = Duration.nanoseconds(
                Int64.random(in: -2_097_151_999_999_999...2_097_151_999_999_999, using: &random))
            #expect(Duration(codedSeconds: short.codedSeconds) == short, "\(short), seed \(seed)")
            let long = Duration.milliseconds(Int64.random(in: 2_097_152_000...1_099_511_627_000_000, using: &random))
            #expect(Duration(codedSeconds: long.codedSeconds) == long, "\(long), seed \(seed)")
        }
    }
}
