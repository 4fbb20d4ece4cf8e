import CommandSupport
import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetCache

/// Responses that try to make a cache slow, large or wrong.
@Suite(.timeLimit(.minutes(5)))
struct HostileTests {
    @Test(arguments: [
        "max-age=5, ", "foo, ", ",", " ", "\"", "a=\"", "a=\"\\\"", "=", "no-cache=\"a\", ", "a=\",", "\\\",",
        "private=\"a,b\", ",
        "max-age=99999999999999999999, ", "x", "a =\" ,",
    ])
    func directivesAreReadInLinearTime(text: String) {
        let make = { (count: Int) in fields("Cache-Control: " + String(repeating: text, count: count)) }
        #expect(growth(from: 10_000, make) { _ = CacheDirectives(response: $0) } <= 2.5)
    }

    /// A value of `HTTPFields` traps beyond 65,534 fields.
    @Test func manyFieldsAreReadInLinearTime() {
        let make = { (count: Int) -> HTTPFields in
            var fields = HTTPFields()
            fields[values: .cacheControl] = (0..<count).map { "x\($0)=\"\($0)\", no-cache=\"f\($0)\"" }
            return fields
        }
        #expect(growth(from: 3000, upTo: 30_000, make) { _ = CacheDirectives(response: $0) } <= 2.5)
        #expect(CacheDirectives(response: make(10_000)).extensions.count == 10_000)
    }

    @Test(arguments: ["\"a\",", "W/\"a\", ", "a,", ",", "\"", " ", "W/"])
    func entityTagsAreReadInLinearTime(text: String) {
        let make = { (count: Int) in String(repeating: text, count: count) }
        // More tags than these do not fit into the caches, whose misses count as processor time.
        #expect(growth(from: 20_000, upTo: 100_000, make) { _ = EntityTag.List($0) } <= 2.5)
    }

    /// Vary with 10,000 names is refused without a look at the request.
    @Test func manyNamesInVaryAreRefused() throws {
        let names = { (count: Int) in (0..<count).map { "n\($0)" }.joined(separator: ",") }
        #expect(CacheRules().refusal(of: response("Vary: " + names(10_000)), to: request()) == .vary)
        let make = { (count: Int) in response("Vary: " + names(count)) }
        #expect(growth(from: 5000, make) { _ = CacheRules().refusal(of: $0, to: request()) } <= 2.5)
    }

    @Test func manyVariantsOfOneURLAreBounded() async throws {
        let store = MemoryCacheStore()
        let count = isSanitized ? 1000 : 10_000
        for number in 0..<count {
            let entry = try #require(
                CacheRules().entry(
                    for: response("Vary: A|ETag: \"\(number)\""), to: request("A: \(number)"), key: try key(),
                    requestTime: at(0), responseTime: at(0)))
            _ = try await store.beginEntry(entry, replacing: []).commit()
        }
        let responses = try await store.responses(for: try key())
        #expect(responses.count == MemoryCacheStore.variantLimit)
        #expect(MemoryCacheStore.variantLimit == 32)
        #expect(responses.last?.variant.matches(request("A: \(count - 1)")) == true)
        #expect(await store.statistics().evictions == count - 32)
        let validation = try #require(
            CacheRules().decision(for: request("A: x"), among: responses, at: at(0)).validation)
        #expect(validation.candidates.count == 32)
    }

    @Test func storingTakesTimeProportionalToTheEntries() throws {
        let make = { (count: Int) in
            (0..<count).compactMap { number -> StoredResponse? in
                guard var stored = try? stored("", id: 0, url: "https://example.com/\(number)") else { return nil }
                stored.bodySize = 0
                return stored
            }
        }
        // The limit is small, so that most of them are evicted.
        let factor = growth(from: 2000, make) { entries in
            var machine = MemoryCacheMachine(limit: 100_000, entryLimit: 5000)
            for entry in entries {
                guard let id = machine.begin(entry, expecting: 0) else { continue }
                var entry = entry
                entry.id = id
                _ = machine.commit(entry, body: Data(), replacing: [])
            }
        }
        #expect(factor <= 2.5)
    }

    @Test(arguments: 0...255) func everyByteIsRead(byte: Int) {
        let byte = UInt8(byte)
        let values: [[UInt8]] = [
            [byte], Array("max-age=".utf8) + [byte], Array("no-cache=\"".utf8) + [byte],
            Array("no-store".utf8) + [byte],
            Array("a=\"b\"".utf8) + [byte, 0x2C] + Array("no-store".utf8),
        ]
        for value in values {
            let field = HTTPField(name: .cacheControl, lenientValue: value)
            let directives = CacheDirectives(response: HTTPFields([field]))
            #expect(directives.maxAge ?? 0 <= DeltaSeconds.limit)
            for name in [HTTPField.Name.vary, .eTag, .age, .expires, .contentRange, .connection, .date] {
                let hostile = HTTPResponse(
                    status: .ok, headerFields: HTTPFields([HTTPField(name: name, lenientValue: value), field]))
                guard
                    let key = try? key(),
                    let entry = CacheRules().entry(
                        for: hostile, to: request(), key: key, requestTime: at(0), responseTime: at(0))
                else { continue }
                _ = CacheRules().decision(for: request("Range: bytes=0-1"), among: [entry], at: at(10))
            }
        }
    }

    @Test(arguments: [
        "Age: 99999999999999999999", "Expires: Fri, 31 Dec 9999 23:59:59 GMT", "Date: Fri, 31 Dec 9999 23:59:59 GMT",
        "Date: Mon, 01 Jan 0001 00:00:00 GMT", "Cache-Control: max-age=99999999999999999999",
        "Last-Modified: Mon, 01 Jan 0001 00:00:00 GMT",
        "Cache-Control: max-age=1, stale-while-revalidate=99999999999999",
    ])
    func extremeNumbersAreCalculatedWith(text: String) throws {
        let entry = try stored(text + "|ETag: \"a\"")
        for instant in [at(0), at(1e300), at(-1e300), at(.infinity), at(-.infinity), at(.nan), .distantFuture] {
            for own in ["", "Cache-Control: max-stale", "Cache-Control: min-fresh=99999999999999, max-age=99999999999"]
            {
                let decision = CacheRules().decision(for: request(own), among: [entry], at: instant)
                let age = decision.answer?.head.headerFields[.age].flatMap { Int64($0) } ?? 0
                #expect(0...DeltaSeconds.limit ~= age)
            }
        }
    }
}
