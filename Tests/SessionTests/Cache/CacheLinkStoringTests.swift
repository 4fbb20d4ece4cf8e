import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetCookies
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetSession

@Suite("What a session stores", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct CacheLinkStoringTests {
    func count(_ cache: CacheFixture) async -> Int { await cache.store.statistics().count }

    private func isStored(_ path: String, _ cache: CacheFixture) async throws -> Bool {
        let key = try #require(CacheKey(cache.server.url(path)))
        return try await !cache.store.responses(for: key).isEmpty
    }

    let long = String(repeating: "0123456789", count: 40_000)

    // MARK: Streams

    @Test(arguments: Version.allCases)
    func aStreamIsStoredAfterItsEndWasRead(version: Version) async throws {
        let long = long
        try await withCache(version, routes: { $0.on("/a", .cached(long, "max-age=60")) }) { cache in
            let response = try await cache.session.get("/a").bytes()
            #expect(response.cacheOutcome == .miss)
            #expect(await count(cache) == 0)
            let body = try await response.body.collect(upTo: 1 << 20)
            #expect(body == Data(long.utf8))
            // The metrics of the body come from the network.
            #expect(response.metrics.last?.responseBodyBytes == Int64(long.utf8.count))
            let again = try await cache.session.get("/a").bytes()
            #expect(again.cacheOutcome == .hit)
            #expect(try await again.body.collect(upTo: 1 << 20) == body)
            #expect(cache.sent == 1)
        }
    }

    @Test func aLongStoredResponseIsStreamedInPieces() async throws {
        let long = String(repeating: "0123456789", count: 300_000)
        try await withCache(
            store: MemoryCacheStore(limit: 256 << 20), routes: { $0.on("/a", .cached(long, "max-age=60")) }
        ) { cache in
            #expect(try await cache.get("/a").value == long)
            let hit = try await cache.session.get("/a").bytes()
            var pieces: [Data] = []
            for try await piece in hit.body { pieces.append(piece) }
            #expect(pieces.map(\.count) == [1 << 20, 1 << 20, 3_000_000 - (2 << 20)])
            #expect(Data(pieces.joined()) == Data(long.utf8))
            // A caller that wants it whole gets it whole.
            let whole = try await cache.get("/a")
            #expect(whole.value == long && whole.cacheOutcome == .hit)
        }
    }

    @Test func aReaderThatStopsInTheMiddleStoresNothing() async throws {
        let long = long
        try await withCache(routes: { $0.on("/a", .cached(long, "max-age=60")) }) { cache in
            do {
                let response = try await cache.session.get("/a").bytes()
                for try await _ in response.body { break }
            }
            #expect(await count(cache) == 0)
            #expect(try await cache.outcome("/a") == .miss)
        }
    }

    @Test func aCancelledReaderStoresNothing() async throws {
        let stub = StubTransport.Body()
        let store = MemoryCacheStore()
        let session = try HTTPSession(
            baseURL: URL(string: "http://example.com"),
            configuration: HTTPSession.Configuration.make { $0.cacheStore = store },
            transport: StubTransport { _ in
                .stream(stub, headerFields: [.cacheControl: "max-age=60", .contentLength: "10"])
            })
        stub.send("01234")
        let reader = Task {
            let response = try await session.get("a").bytes()
            for try await _ in response.body { withUnsafeCurrentTask { $0?.cancel() } }
        }
        #expect(await (try? reader.value) == nil)
        #expect(await store.statistics().count == 0)
        await session.shutdown()
    }

    @Test func aBodyIsStoredByItsFirstReaderWhileASecondFails() async throws {
        let store = MemoryCacheStore()
        let stub = StubTransport.Body()
        let session = try HTTPSession(
            baseURL: URL(string: "http://example.com"),
            configuration: HTTPSession.Configuration.make { $0.cacheStore = store },
            transport: StubTransport { _ in
                .stream(stub, headerFields: [.cacheControl: "max-age=60", .contentLength: "4"])
            })
        let response = try await session.get("a").bytes()
        var (one, other) = (response.body.makeAsyncIterator(), response.body.makeAsyncIterator())
        stub.send("01")
        _ = try await one.next()
        stub.send("23")
        let error = await sessionError { _ = try await other.next() }
        #expect(error?.code == .bodyHasReader)
        stub.finish()
        while try await one.next() != nil {}
        #expect(await store.statistics().count == 1)
        await session.shutdown()
    }

    @Test func backpressureReachesTheServer() async throws {
        let store = MemoryCacheStore(limit: 64 << 20)
        let stub = StubTransport.Body()
        let session = try HTTPSession(
            baseURL: URL(string: "http://example.com"),
            configuration: HTTPSession.Configuration.make { $0.cacheStore = store },
            transport: StubTransport { _ in
                .stream(stub, headerFields: [.cacheControl: "max-age=60", .contentLength: "2097152"])
            })
        let response = try await session.get("a").bytes()
        let piece = Data(count: 1 << 20)
        // The store does not read ahead of the reader.
        #expect(!stub.send(piece))
        var reader = response.body.makeAsyncIterator()
        #expect(try await reader.next()?.count == piece.count)
        stub.send(piece)
        stub.finish()
        while try await reader.next() != nil {}
        #expect(await store.statistics().count == 1)
        await session.shutdown()
    }

    @Test func aDownloadIsStoredAndComesFromTheStore() async throws {
        let long = long
        try await withScratchFolder { folder in
            try await withCache(routes: { $0.on("/a", .cached(long, "max-age=60")) }) { cache in
                for (name, outcome) in [("one", CacheStatistics.Outcome.miss), ("two", .hit)] {
                    let saved = try await cache.session.get("/a").download(to: folder[name])
                    #expect(saved.cacheOutcome == outcome)
                    #expect(try folder.text(of: name) == long)
                }
                #expect(cache.sent == 1)
            }
        }
    }

    // MARK: Incomplete bodies

    @Test(arguments: [true, false])
    func aBodyThatIsCutShortStoresNothing(isStreamed: Bool) async throws {
        let long = long
        try await withCache(routes: {
            $0.on(
                "/a",
                .cached(long, "max-age=60", [.eTag: #""1""#])
                    .with(MockServer.Fault(.close, at: .responseBody(after: 1000))))
        }) { cache in
            let error = await Result { () async throws(SessionError) in
                if isStreamed {
                    _ = try await cache.session.get("/a").bytes().body.collect(upTo: 1 << 20)
                } else {
                    try await cache.session.get("/a").response()
                }
            }.error
            #expect(error?.code == .connectionLost)
            #expect(await count(cache) == 0)
        }
    }

    @Test func aBodyThatEndsWithItsConnectionIsNotStored() async throws {
        try await withCache(routes: {
            var response = MockResponse.cached("a", "max-age=60")
            response.body = .untilClose(Data("abc".utf8))
            $0.on("/a", response)
        }) { cache in
            let response = try await cache.get("/a")
            #expect(response.value == "abc")
            #expect(await count(cache) == 0)
        }
    }

    @Test func aBodyInChunksIsStored() async throws {
        try await withCache(routes: {
            var response = MockResponse.cached("", "max-age=60")
            response.body = .chunks([Data("ab".utf8), Data("c".utf8)])
            $0.on("/a", response)
        }) { cache in
            #expect(try await cache.get("/a").value == "abc")
            let hit = try await cache.get("/a")
            #expect(hit.value == "abc" && hit.cacheOutcome == .hit)
            #expect(!hit.head.headerFields.contains(.transferEncoding))
        }
    }

    @Test func aBodyOfAnotherLengthThanDeclaredIsNotStored() async throws {
        let store = MemoryCacheStore()
        let session = try HTTPSession(
            baseURL: URL(string: "http://example.com"),
            configuration: HTTPSession.Configuration.make { $0.cacheStore = store },
            transport: StubTransport { _ in
                .status(
                    .ok, headerFields: [.cacheControl: "max-age=60", .contentLength: "5"], body: Data("abc".utf8))
            })
        _ = try await session.get("a").text()
        #expect(await store.statistics().count == 0)
        await session.shutdown()
    }

    // MARK: Stored responses

    @Test(arguments: ["no-store", "private", "public, max-age=60", ""])
    func theResponseDecides(control: String) async throws {
        try await withCache(routes: { $0.on("/a", .cached("a", control)) }) { cache in
            try await cache.get("/a")
            #expect(await count(cache) == (control == "no-store" ? 0 : 1))
        }
    }

    @Test func aResponseThatIsTooLargeRemovesTheOutdatedOne() async throws {
        let long = long
        try await withCache(
            store: MemoryCacheStore(limit: 1 << 20, entryLimit: 10_000),
            routes: {
                $0.counting("/a") { count, _ in .cached(count == 1 ? "short" : long, "max-age=60") }
            }
        ) { cache in
            try await cache.get("/a")
            #expect(await count(cache) == 1)
            #expect(try await cache.get("/a", policy: .reloadIgnoringCache).value == long)
            #expect(await count(cache) == 0)
        }
    }

    @Test func aStreamThatBecomesTooLargeIsReadToItsEnd() async throws {
        let long = long
        try await withCache(
            store: MemoryCacheStore(limit: 1 << 20, entryLimit: 10_000),
            routes: {
                var response = MockResponse.cached("", "max-age=60")
                response.body = .chunks([Data(long.utf8), Data(long.utf8)])
                $0.on("/a", response)
            }
        ) { cache in
            let response = try await cache.get("/a")
            #expect(response.value == long + long)
            #expect(await count(cache) == 0)
        }
    }

    @Test func twoEqualRequestsAtOnceBothAskTheServer() async throws {
        let both = Signal()
        try await withCache(routes: {
            let count = CallCount()
            $0.on("/a") { _ in
                if count.next() == 2 { both.fire() }
                await both.wait()
                return .cached("a", "max-age=60")
            }
        }) { cache in
            async let one = cache.get("/a")
            async let other = cache.get("/a")
            let outcomes = try await [one, other].map(\.cacheOutcome)
            #expect(outcomes == [.miss, .miss])
            #expect(await count(cache) == 1)
            #expect(try await cache.outcome("/a") == .hit)
        }
    }

    @Test func aRequestWithABodyIsNotIdentifiedByItsURL() async throws {
        try await withCache(routes: { $0.on("/a", .cached("a", "max-age=60")) }) { cache in
            for _ in 0..<2 {
                var request = SessionRequest(url: try cache.server.url("/a"))
                request.body = .data(Data("query".utf8))
                #expect(try await cache.session.call(request).response().cacheOutcome == .bypass)
            }
            #expect(cache.sent == 2)
            #expect(await count(cache) == 0)
        }
    }

    // MARK: Removing

    @Test(arguments: [(HTTPRequest.Method.post, 200, true), (.delete, 204, true), (.put, 409, false)])
    func anUnsafeMethodRemovesChangedResponses(method: HTTPRequest.Method, status: Int, removes: Bool) async throws {
        try await withCache(routes: {
            $0.on(.get, "/a", .cached("a", "max-age=60"))
            $0.on(.get, "/b", .cached("b", "max-age=60"))
            $0.on(.get, "/c", .cached("c", "max-age=60"))
            $0.on(method, "/a") { _ in
                var response = MockResponse.status(HTTPResponse.Status(code: status))
                response.headerFields[.location] = "/b"
                return response
            }
        }) { cache in
            for path in ["/a", "/b", "/c"] { try await cache.get(path) }
            let response = try await cache.session.call(method, "/a").bytes(validation: .none)
            #expect(response.cacheOutcome == .bypass)
            #expect(try await isStored("/a", cache) == !removes)
            #expect(try await isStored("/b", cache) == !removes)
            #expect(try await isStored("/c", cache))
        }
    }

    /// RFC 9111, section 4.4: its response may show the state before the change.
    @Test(arguments: [true, false])
    func aGETThatBeganBeforeAChangeIsNotStored(hasOtherEntries: Bool) async throws {
        let (arrived, answer) = (Signal(), Signal())
        try await withCache(routes: {
            $0.on(.get, "/a") { _ in
                if !arrived.hasFired {
                    arrived.fire()
                    await answer.wait()
                }
                return .cached("a", "max-age=60")
            }
            $0.on(.get, "/b", .cached("b", "max-age=60"))
            $0.on(.post, "/a", .text("changed"))
        }) { cache in
            // A store that has something takes another way.
            if hasOtherEntries { try await cache.get("/b") }
            let reading = Task { try await cache.get("/a").value }
            await arrived.wait()
            _ = try await cache.session.call(.post, "/a").response()
            answer.fire()
            #expect(try await reading.value == "a")
            #expect(try await !isStored("/a", cache))
            #expect(try await cache.outcome("/a") == .miss)
            #expect(try await cache.outcome("/a") == .hit)
        }
    }

    @Test func anEmptiedStoreAnswersNothing() async throws {
        try await withCache(routes: { $0.on("/a", .cached("a", "max-age=60")) }) { cache in
            try await cache.get("/a")
            try await cache.store.removeAll()
            #expect(try await cache.outcome("/a") == .miss)
        }
    }

    // MARK: Stores that fail

    /// Fails in each method that throws.
    private struct FailingStore: CacheStore {
        private static let failure = CacheError(code: CacheError.Code("failed"), message: "The store fails.")

        func responses(for key: CacheKey) async throws(CacheError) -> [StoredResponse] { throw Self.failure }
        func body(of id: StoredResponse.ID) async throws(CacheError) -> (any StoredBody)? { throw Self.failure }
        func beginEntry(
            _ response: StoredResponse, replacing replaced: [StoredResponse.ID]
        ) async throws(CacheError) -> any CacheEntryWriter { throw Self.failure }
        func update(_ response: StoredResponse) async throws(CacheError) { throw Self.failure }
        func remove(_ ids: [StoredResponse.ID]) async throws(CacheError) { throw Self.failure }
        func removeAll(for keys: [CacheKey]) async throws(CacheError) { throw Self.failure }
        func removeAll() async throws(CacheError) { throw Self.failure }
        func record(_ outcome: CacheStatistics.Outcome) {}
        func statistics() async -> CacheStatistics { CacheStatistics() }
    }

    @Test(arguments: Surface.allCases)
    func aStoreThatFailsFailsNoRequest(surface: Surface) async throws {
        let transport = StubTransport { _ in .json("1") }
        let session = try makeClient(transport) { $0.cacheStore = FailingStore() }
        #expect(try await surface.send("a", with: session).get().cacheOutcome == .miss)
        #expect(try await surface.send("a", method: .post, with: session).get().cacheOutcome == .bypass)
        await session.shutdown()
    }

    /// A store with writers that fail after some bytes.
    private struct FillingStore: CacheStore {
        let base = MemoryCacheStore()
        let limit: Int

        final class Writer: CacheEntryWriter {
            private let base: any CacheEntryWriter
            private let rest: Mutex<Int>

            init(_ base: any CacheEntryWriter, limit: Int) {
                self.base = base
                rest = Mutex(limit)
            }

            func append(_ bytes: Data) async throws(CacheError) {
                let isFull = rest.withLock { rest in
                    rest -= bytes.count
                    return rest < 0
                }
                if isFull { throw CacheError(code: CacheError.Code("full"), message: "The disk is full.") }
                try await base.append(bytes)
            }
            func commit(asFirstOf total: Int64?) async throws(CacheError) -> StoredResponse {
                try await base.commit(asFirstOf: total)
            }
            func abandon() async { await base.abandon() }
        }

        func responses(for key: CacheKey) async throws(CacheError) -> [StoredResponse] {
            try await base.responses(for: key)
        }
        func body(of id: StoredResponse.ID) async throws(CacheError) -> (any StoredBody)? {
            try await base.body(of: id)
        }
        func beginEntry(
            _ response: StoredResponse, replacing replaced: [StoredResponse.ID]
        ) async throws(CacheError) -> any CacheEntryWriter {
            Writer(try await base.beginEntry(response, replacing: replaced), limit: limit)
        }
        func update(_ response: StoredResponse) async throws(CacheError) { try await base.update(response) }
        func remove(_ ids: [StoredResponse.ID]) async throws(CacheError) { try await base.remove(ids) }
        func removeAll(for keys: [CacheKey]) async throws(CacheError) { try await base.removeAll(for: keys) }
        func removeAll() async throws(CacheError) { try await base.removeAll() }
        func record(_ outcome: CacheStatistics.Outcome) { base.record(outcome) }
        func statistics() async -> CacheStatistics { await base.statistics() }
    }

    /// The reader of the body receives all of it, and the outdated response is removed.
    @Test(arguments: [true, false]) func aStoreThatFailsWithinABodyStoresNothing(isStreamed: Bool) async throws {
        let store = FillingStore(limit: 8)
        let count = CallCount()
        let session = try HTTPSession(
            baseURL: URL(string: "http://example.com"),
            configuration: HTTPSession.Configuration.make { $0.cacheStore = store },
            transport: StubTransport { _ in
                let number = count.next()
                guard number > 1, isStreamed else {
                    return .status(
                        .ok, headerFields: [.cacheControl: "max-age=60"],
                        body: Data((number == 1 ? "short" : "0123456789").utf8))
                }
                let body = StubTransport.Body()
                for piece in ["012", "3456", "789"] { body.send(piece) }
                body.finish()
                return .stream(body, headerFields: [.cacheControl: "max-age=60", .contentLength: "10"])
            })
        _ = try await session.get("a").text()
        #expect(await store.statistics().count == 1)
        let reload = session.get("a").options { $0.cachePolicy = .reloadIgnoringCache }
        if isStreamed {
            #expect(try await reload.bytes().body.collect(upTo: 100) == Data("0123456789".utf8))
        } else {
            #expect(try await reload.text() == "0123456789")
        }
        #expect(await store.statistics().count == 0)
        await session.shutdown()
    }

    /// A store that has lost its bodies when they are requested.
    private struct ForgetfulStore: CacheStore {
        let base = MemoryCacheStore()

        func responses(for key: CacheKey) async throws(CacheError) -> [StoredResponse] {
            try await base.responses(for: key)
        }
        func body(of id: StoredResponse.ID) async throws(CacheError) -> (any StoredBody)? { nil }
        func beginEntry(
            _ response: StoredResponse, replacing replaced: [StoredResponse.ID]
        ) async throws(CacheError) -> any CacheEntryWriter { try await base.beginEntry(response, replacing: replaced) }
        func update(_ response: StoredResponse) async throws(CacheError) { try await base.update(response) }
        func remove(_ ids: [StoredResponse.ID]) async throws(CacheError) { try await base.remove(ids) }
        func removeAll(for keys: [CacheKey]) async throws(CacheError) { try await base.removeAll(for: keys) }
        func removeAll() async throws(CacheError) { try await base.removeAll() }
        func record(_ outcome: CacheStatistics.Outcome) { base.record(outcome) }
        func statistics() async -> CacheStatistics { await base.statistics() }
    }

    @Test func aRemovedEntryIsLoadedAgain() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60", .contentType: "application/json"]
        let transport = StubTransport { _ in .status(.ok, headerFields: fields, body: Data("1".utf8)) }
        let session = try makeClient(transport) { $0.cacheStore = ForgetfulStore() }
        for _ in 0..<2 {
            #expect(try await Surface.async.send("a", with: session).get().cacheOutcome == .miss)
        }
        #expect(transport.requests.count == 2)
        var options = RequestOptions()
        options.cachePolicy = .cacheOnly
        #expect(await Surface.async.send("a", options: options, with: session).error?.code == .notCached)
        await session.shutdown()
    }
}
