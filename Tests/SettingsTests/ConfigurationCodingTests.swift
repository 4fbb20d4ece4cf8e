import CommandSupport
import FoundationEssentials
import LinnetCompression
import LinnetSettings
import LinnetTransport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ConfigurationCodingTests {
    private func coded<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    private func decoded<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    /// Checks that `changed` has no default value, and that it equals its copy; an empty object means the defaults.
    private func expectSurvival<Value: Codable & Hashable>(
        _ changed: Value, of defaults: Value, except: [String] = []
    ) throws {
        #expect(unchangedSettings(in: changed, from: defaults) == except)
        #expect(try coded(changed) == changed)
        #expect(try coded(defaults) == defaults)
        #expect(try decoded("{}") == defaults)
    }

    @Test func timeoutsSurviveCoding() throws {
        let timeouts = TransportTimeouts(
            poolWait: .seconds(1), connect: .milliseconds(2500), tlsHandshake: .nanoseconds(3), idleRead: .seconds(4),
            idleWrite: .seconds(5), request: .seconds(86_400 * 400))
        try expectSurvival(timeouts, of: .default)
        #expect(try coded(TransportTimeouts()) == TransportTimeouts())
        let written: TransportTimeouts = try decoded(#"{"request": 1.5, "idleRead": null}"#)
        var expected = TransportTimeouts.default
        (expected.request, expected.idleRead) = (.milliseconds(1500), nil)
        #expect(written == expected)
        #expect(throws: DecodingError.self) { try decoded(#"{"request": 1e300}"#) as TransportTimeouts }
    }

    @Test func tlsOptionsSurviveCodingWithoutTheKeyLog() throws {
        var options = TransportConfiguration.TLS()
        options.minimumVersion = .tls13
        options.maximumVersion = .tls12
        options.cipherList = "ECDHE+CHACHA20"
        options.cipherSuites = "TLS_AES_256_GCM_SHA384"
        options.groups = "X25519"
        options.signatureAlgorithms = "ed25519"
        options.sessionResumption = false
        try expectSurvival(options, of: TransportConfiguration.TLS(), except: ["keyLog"])
        var logging = options
        logging.keyLog = .insecureEnvironment
        #expect(try coded(logging) == options)
        #expect(throws: DecodingError.self) { try decoded(#"{"minimumVersion": "1.1"}"#) as TransportConfiguration.TLS }
    }

    @Test func http2OptionsSurviveCoding() throws {
        var options = TransportConfiguration.HTTP2()
        options.initialWindowSize = 70_000
        options.connectionWindowSize = 80_000
        options.maximumFrameSize = 20_000
        options.keepAlivePing = .milliseconds(1)
        options.pingTimeout = .seconds(2)
        options.maximumConnectionsPerOrigin = 3
        options.limits.countingWindow = .seconds(4)
        options.limits.controlFrames = 5
        options.limits.streamErrors = 6
        options.limits.waitingControlFrames = 7
        try expectSurvival(options, of: TransportConfiguration.HTTP2())
        options.keepAlivePing = nil
        #expect(try coded(options) == options)
    }

    @Test func resolutionAndLimitsSurviveCoding() throws {
        var resolution = TransportConfiguration.Resolution()
        resolution.hostOverrides = ["a.example": ["192.0.2.1", "2001:db8::1"]]
        resolution.unixSockets = ["b.example": "/run/b.sock"]
        resolution.localAddress = "192.0.2.9"
        resolution.networkInterface = "eth0"
        resolution.cacheLifetime = .zero
        try expectSurvival(resolution, of: TransportConfiguration.Resolution())
        var pool = TransportConfiguration.PoolLimits()
        pool.connectionsPerOrigin = 3
        pool.connections = 4
        pool.idleTimeout = .milliseconds(1500)
        pool.maximumAge = .seconds(9)
        try expectSurvival(pool, of: TransportConfiguration.PoolLimits())
        var limits = TransportConfiguration.ResponseLimits()
        limits.headBytes = 1
        limits.headFields = 2
        try expectSurvival(limits, of: TransportConfiguration.ResponseLimits())
        for versions in [HTTPVersions.automatic, .http1, .http2] {
            #expect(try coded([versions]) == [versions])
        }
    }

    @Test func unknownKeysAreErrors() {
        func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws {
            _ = try decoded(text) as Value
        }
        let decodings: [(String) throws -> Void] = [
            { try decode(TransportTimeouts.self, $0) }, { try decode(TransportConfiguration.TLS.self, $0) },
            { try decode(TransportConfiguration.HTTP2.self, $0) },
            { try decode(TransportConfiguration.HTTP2.Limits.self, $0) },
            { try decode(TransportConfiguration.Resolution.self, $0) },
            { try decode(TransportConfiguration.ResponseLimits.self, $0) },
            { try decode(TransportConfiguration.PoolLimits.self, $0) },
        ]
        for decode in decodings {
            #expect(throws: DecodingError.self) { try decode(#"{"conect": 1}"#) }
        }
        #expect(throws: DecodingError.self) {
            try decode(TransportConfiguration.HTTP2.self, #"{"limits": {"streams": 1}}"#)
        }
    }

    @Test func limitsOnContentCodingsSurviveCoding() throws {
        let limits = DecodingLimits {
            $0.maximumSize = 10
            $0.maximumRatio = nil
        }
        for each in [limits, DecodingLimits()] {
            #expect(try JSONDecoder().decode(DecodingLimits.self, from: JSONEncoder().encode(each)) == each)
        }
        #expect(try JSONDecoder().decode(DecodingLimits.self, from: Data("{}".utf8)) == DecodingLimits())
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(DecodingLimits.self, from: Data(#"{"maximumratio": 1}"#.utf8))
        }
    }
}
