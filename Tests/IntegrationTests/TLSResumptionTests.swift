import FoundationEssentials
import HTTPTypes
import Linnet
import LinnetTransport
import Testing

/// Tests with a server that reports whether it resumed a session.
@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct TLSResumptionTests {
    /// The mechanism of resumption.
    enum Way: CaseIterable, CustomTestStringConvertible {
        case preSharedKey
        case ticket
        case sessionID

        var server: Server { self == .sessionID ? .tls12 : .tls }
        var highest: TransportConfiguration.TLS.Version { self == .preSharedKey ? .tls13 : .tls12 }
        var testDescription: String { "\(self)" }
    }

    /// Sends one request on a new connection, and returns whether it resumed a session according to both sides.
    private func isResumed(_ session: HTTPSession) async throws -> Bool {
        let response = try await session.get("closes").response(StringResponseSerializer())
        let metrics = try #require(response.metrics.last)
        #expect(try ServedBy(response).request == 1)
        #expect(!metrics.isReusedConnection)
        let name = try #require(HTTPField.Name("X-Session-Reused"))
        #expect(response.head.headerFields[name] == (metrics.isResumedTLSSession ? "r" : "."))
        return metrics.isResumedTLSSession
    }

    private func isResumed(_ session: HTTPSession, times: Int) async throws -> [Bool] {
        var all: [Bool] = []
        for _ in 0..<times { all.append(try await isResumed(session)) }
        return all
    }

    @Test(arguments: Way.allCases)
    func aNewConnectionResumesAPinnedSession(way: Way) async throws {
        let policy = try SecurityPolicy.publicKeyPins([Environment.pin], anchors: Environment.anchors)
        try await way.server.withSession(policy: policy) {
            $0.tls.maximumVersion = way.highest
        } run: { session in
            let all = try await isResumed(session, times: 4)
            #expect(all == [false, true, true, true])
            let metrics = try await session.get("1k").response().metrics.last
            #expect(metrics?.isResumedTLSSession == true)
            #expect(metrics?.isPinned == true)
            #expect(try metrics?.verifiedPins.first == Environment.pin.description)
        }
    }

    @Test(arguments: Way.allCases)
    func aStricterPolicyRefusesTheServerDespiteResumption(way: Way) async throws {
        let wrong = try Environment.certificate("expired").publicKeyPin
        try await way.server.withSession {
            $0.tls.maximumVersion = way.highest
        } run: { session in
            let before = try await isResumed(session, times: 2)
            #expect(before == [false, true])
            try session.replaceSecurityPolicy(.publicKeyPins([wrong], anchors: Environment.anchors))
            let error = await #expect(throws: SessionError.self) {
                try await session.get("closes").response(JSONResponseSerializer())
            }
            #expect(error?.trustRefusal?.reason == .pinMismatch)
            try session.replaceSecurityPolicy(.systemTrust(anchors: Environment.anchors))
            let after = try await isResumed(session, times: 2)
            #expect(after == [false, true])
        }
    }

    @Test(arguments: Way.allCases)
    func resumptionCanBeDisabled(way: Way) async throws {
        try await way.server.withSession {
            $0.tls.maximumVersion = way.highest
            $0.tls.sessionResumption = false
        } run: { session in
            let all = try await isResumed(session, times: 3)
            #expect(all == [false, false, false])
        }
    }
}
