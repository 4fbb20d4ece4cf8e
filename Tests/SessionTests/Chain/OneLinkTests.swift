import FoundationEssentials
import HTTPTypes
import LinnetCookies
import LinnetReachability
import LinnetSecurity
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Testing

@testable import LinnetSession

@Suite("HSTS, cookies, consent and codings", .timeLimit(.minutes(1)))
struct OneLinkTests {
    @Test func onlyKnownHostsAreChangedToHTTPS() throws {
        let store = HSTSStore()
        let link = HSTSLink(store: store)
        var flight = try Flight.test()
        #expect(link.send(&flight).proceeds)
        store.store(strictTransportSecurity: ["max-age=1000"], of: try #require(URL(string: "https://a.test/")))
        #expect(link.send(&flight).request?.url.absoluteString == "https://a.test/a")
    }

    @Test func onlyVerifiedConnectionsTellOfHosts() throws {
        for isVerified in [false, true] {
            let store = HSTSStore()
            var flight = try Flight.test("https://a.test/")
            var metrics = TransportMetrics()
            metrics.isTrustVerified = isVerified
            var response = try StreamedResponse.test(
                .ok, [.strictTransportSecurity: "max-age=9"], at: "https://a.test/")
            response.attempts = [metrics]
            #expect(HSTSLink(store: store).receive(&response, &flight).proceeds)
            #expect((store.upgrading(try Flight.test().request.url).scheme == "https") == isVerified)
        }
    }

    @Test func cookiesAreStoredAndSent() throws {
        let jar = CookieJar()
        let link = CookieLink(jar: jar)
        var flight = try Flight.test()
        #expect(link.send(&flight).proceeds)
        var response = try StreamedResponse.test(.ok, [.setCookie: "a=1"])
        #expect(link.receive(&response, &flight).proceeds)
        #expect(link.send(&flight).request?.headerFields[.cookie] == "a=1")
        var request = flight.request
        request.options.usesCookies = false
        flight.change(to: request)
        #expect(link.send(&flight).proceeds)
    }

    @Test func aRefusedExpectationIsRepeatedOnceWithoutIt() throws {
        let link = ContinueLink(policy: .always)
        var flight = try Flight.test("http://a.test/a", .put, body: .data(Data("a".utf8)))
        let asking = try #require(link.send(&flight).request)
        #expect(asking.headerFields[.expect] == "100-continue")
        flight.change(to: asking)
        var response = try StreamedResponse.test(.expectationFailed)
        let step = link.receive(&response, &flight)
        #expect(step.repeats && step.request?.headerFields.contains(.expect) == false)
        #expect(link.receive(&response, &flight).proceeds)
    }

    @Test func theCallersOwnExpectationIsTheCallers() throws {
        let link = ContinueLink(policy: .always)
        var flight = try Flight.test("http://a.test/a", .put, [.expect: "100-continue"], body: .data(Data("a".utf8)))
        #expect(link.send(&flight).proceeds)
        var response = try StreamedResponse.test(.expectationFailed)
        #expect(link.receive(&response, &flight).proceeds)
        var bodiless = try Flight.test()
        #expect(link.send(&bodiless).proceeds)
    }

    @Test func rangesAreOfUncodedBytes() throws {
        let link = try #require(CodingLink(HTTPSession.Configuration(), readsBodies: true))
        let fields: HTTPFields = [.acceptEncoding: link.acceptEncoding.value, .range: "bytes=1-"]
        var flight = try Flight.test("http://a.test/a", .get, fields)
        #expect(link.send(&flight).request?.headerFields[.acceptEncoding] == "identity")
        var plain = try Flight.test("http://a.test/a", .get, [.acceptEncoding: link.acceptEncoding.value])
        #expect(link.send(&plain).proceeds)
    }

    @Test func aCodedBodyIsDecodedUnlessTheCallerNamesCodings() throws {
        let link = try #require(CodingLink(HTTPSession.Configuration(), readsBodies: false))
        for (own, isDecoded) in [(link.acceptEncoding.value, true), ("gzip;q=0.1", false)] {
            var flight = try Flight.test("http://a.test/a", .get, [.acceptEncoding: own])
            var response = try StreamedResponse.test(.ok, [.contentEncoding: "gzip", .contentLength: "10"])
            #expect(link.receive(&response, &flight).proceeds)
            #expect(response.contentCodings.isEmpty != isDecoded)
            #expect(response.head.headerFields.contains(.contentLength) != isDecoded)
        }
    }
}

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct ConnectivityLinkTests {
    private func link(_ status: ReachabilityStatus, waits: Bool = true) -> ConnectivityLink {
        let source = NetworkSource(
            current: { status }, reported: { status }, statuses: { AsyncStream<ReachabilityStatus> { $0.finish() } })
        return ConnectivityLink(
            watch: NetworkWatch(source, discarding: StubTransport()), transport: StubTransport(), waits: waits,
            limit: .seconds(10))
    }

    private func failure(_ code: SessionError.Code = .connectionFailed) -> SessionError {
        SessionError(code, "It failed.", url: nil)
    }

    @Test func onlyTheLackOfANetworkIsWaitedFor() throws {
        for (link, code) in [
            (link(.notReachable, waits: false), SessionError.Code.connectionFailed),
            (link(.notReachable), .connectionLost),
        ] {
            var flight = try Flight.test()
            var failure = failure(code)
            #expect(link.send(&flight).proceeds)
            #expect(try link.receive(&failure, &flight).proceeds)
        }
    }

    @Test func aRequestIsRepeatedOnceTheNetworkIsThere() throws {
        let link = link(.notReachable)
        var flight = try Flight.test()
        var failure = failure()
        #expect(link.send(&flight).proceeds)
        guard case .network(_, _, .seconds(10), true)? = try link.receive(&failure, &flight).question else {
            throw Unexpected()
        }
        flight.answer = .network(.connected)
        #expect(try link.receive(&failure, &flight).repeats)
        // The time of the first wait counts.
        guard case .network(_, _, let limit?, false)? = try link.receive(&failure, &flight).question else {
            throw Unexpected()
        }
        #expect(limit < .seconds(10))
    }

    @Test func aWaitThatEndsOtherwiseFails() throws {
        let link = link(.notReachable)
        for (outcome, code) in [
            (NetworkWatch.Outcome.cancelled, SessionError.Code.cancelled), (.sessionEnded, .shutDown),
        ] {
            var flight = try Flight.test()
            var failure = failure()
            flight.answer = .network(outcome)
            let error = #expect(throws: SessionError.self) { try link.receive(&failure, &flight) }
            #expect(error?.code == code)
        }
        for outcome in [NetworkWatch.Outcome.timedOut, .unwatched] {
            var flight = try Flight.test()
            var failure = failure()
            flight.answer = .network(outcome)
            #expect(try link.receive(&failure, &flight).proceeds)
        }
    }
}
