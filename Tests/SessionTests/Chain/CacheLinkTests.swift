import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetSerialization
import LinnetTransport
import Testing

@testable import LinnetSession

/// The cache's decisions, with a store whose answers the tests give.
@Suite(.timeLimit(.minutes(1)))
struct CacheLinkTests {
    private let link: CacheLink
    private let now = Date(timeIntervalSince1970: 1_000_000)

    init() {
        var configuration = HTTPSession.Configuration()
        configuration.cacheTime = { Date(timeIntervalSince1970: 1_000_000) }
        link = CacheLink(configuration, store: MemoryCacheStore())
    }

    /// A stored response of an age in seconds, which is fresh for 60.
    private func stored(_ flight: Flight, age: TimeInterval, _ fields: HTTPFields = [:]) throws -> StoredResponse {
        var flight = flight
        let target = try flight.target()
        let time = now - age
        var head = HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60", .eTag: "\"a\""])
        for field in fields { head.headerFields.append(field) }
        return try #require(
            link.rules.entry(
                for: head, to: target.head(of: flight.request), key: CacheKey(target), requestTime: time,
                responseTime: time))
    }

    /// Takes a request to the decision on what is stored.
    private func decide(_ flight: inout Flight, among stored: [StoredResponse]) throws -> ChainStep {
        var target = flight
        let parsed = try target.target()
        flight.cache.visit = Boxed(
            CacheVisit(
                request: flight.request, head: parsed.head(of: flight.request), key: CacheKey(parsed),
                use: CacheUse(flight.request.options.cachePolicy), stored: [],
                passage: .init(requestTime: now, invalidations: 0)))
        flight.answer = .cache(.stored(stored))
        return try link.send(&flight)
    }

    @Test func aPlainRequestPassesAnEmptyCache() throws {
        var flight = try Flight.test()
        #expect(try link.send(&flight).proceeds && flight.cache.visit == nil && flight.cache.passage != nil)
        var unstorable = try StreamedResponse.test(.ok, [.cacheControl: "no-store"])
        #expect(try link.receive(&unstorable, &flight).proceeds && unstorable.cacheOutcome == .miss)
        var storable = try StreamedResponse.test(.ok, [.cacheControl: "max-age=60"])
        guard case .cache(_, .keep)? = try link.receive(&storable, &flight).question else { throw Unexpected() }
        flight.answer = .cache(.response(storable))
        guard case .end(.success) = try link.receive(&storable, &flight) else { throw Unexpected() }
    }

    @Test func aFreshResponseAnswers() throws {
        var flight = try Flight.test()
        let fresh = try stored(flight, age: 10)
        guard case .cache(_, .answer(let answer, nil, false))? = try decide(&flight, among: [fresh]).question else {
            throw Unexpected()
        }
        #expect(answer.source.id == fresh.id && !answer.isStale)
        // Its entry is gone when it is read: the server answers.
        flight.answer = .cache(.response(nil))
        guard case .change = try link.send(&flight) else { throw Unexpected() }
    }

    @Test func aStaleResponseIsValidated() throws {
        var flight = try Flight.test()
        let stale = try stored(flight, age: 100)
        let step = try decide(&flight, among: [stale])
        #expect(step.request?.headerFields[.ifNoneMatch] == "\"a\"")
        var confirmation = try StreamedResponse.test(.notModified, [.eTag: "\"a\""])
        guard case .cache(_, .confirm(let answer, _, _, _))? = try link.receive(&confirmation, &flight).question else {
            throw Unexpected()
        }
        #expect(answer.source.id == stale.id)
        // The entry cannot be read: the request is sent once more, without the condition.
        flight.answer = .cache(.response(nil))
        let again = try link.receive(&confirmation, &flight)
        #expect(again.repeats && again.request?.headerFields.contains(.ifNoneMatch) == false)
    }

    @Test func aStaleResponseStandsInForAServerThatCannotBeReached() throws {
        var flight = try Flight.test()
        let field = HTTPField(name: .cacheControl, value: "stale-if-error=1000")
        let stale = try stored(flight, age: 100, HTTPFields([field]))
        #expect(try decide(&flight, among: [stale]).request != nil)
        for (code, standsIn) in [(SessionError.Code.connectionFailed, true), (.trustRefused, false)] {
            var failure = SessionError(code, "It failed.", url: nil)
            guard case .cache(_, .answer)? = link.receive(&failure, &flight).question else {
                #expect(!standsIn)
                continue
            }
            #expect(standsIn)
        }
    }

    @Test func aChangeInvalidatesWhatItChanges() throws {
        var flight = try Flight.test("http://a.test/a", .post)
        #expect(try link.send(&flight).proceeds)
        var response = try StreamedResponse.test(.noContent)
        guard case .cache(_, .invalidate(let keys, _))? = try link.receive(&response, &flight).question else {
            throw Unexpected()
        }
        #expect(keys == [CacheKey(try flight.target())])
        var failed = try StreamedResponse.test(.badRequest)
        flight.answer = nil
        guard case .end(.success(let kept)) = try link.receive(&failed, &flight) else { throw Unexpected() }
        #expect(kept.cacheOutcome == .bypass)
    }

    @Test func onlyAStoredResponseWillDoForSome() throws {
        var flight = try Flight.test()
        var request = flight.request
        request.options.cachePolicy = .cacheOnly
        flight.change(to: request)
        guard case .end(.failure(let error)) = try decide(&flight, among: []) else { throw Unexpected() }
        #expect(error.code == .notCached)
    }

    @Test func anUpgradeIsNoneOfTheCachesBusiness() throws {
        var flight = try Flight.test()
        flight.upgrade = ProtocolUpgrade(to: "websocket") { _, _ throws(TransportError) in
            throw TransportError(.invalidRequest, "There is no connection.")
        }
        var response = try StreamedResponse.test(.switchingProtocols)
        #expect(try link.send(&flight).proceeds && link.receive(&response, &flight).proceeds)
        #expect(response.cacheOutcome == nil)
    }

    @Test func aLeaderThatIsGoneHandsOver() async throws {
        let flights = CacheFlights()
        var flight = try Flight.test()
        let key = CacheKey(try flight.target())
        let first = try #require(flights.join(key, mayLead: true))
        var lead: CacheLead? = CacheLead(flights, key, first.flight)
        #expect(first.isLeader && lead != nil)
        lead = nil
        #expect(await first.flight.wait() == .handedOver)
        #expect(flights.join(key, mayLead: true)?.isLeader == true)
    }
}
