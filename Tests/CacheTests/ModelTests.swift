import CommandSupport
import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetCache

/// Random histories of responses, requests and time, in which the rules and the store decide as ``CacheModel`` does.
@Suite(.timeLimit(.minutes(2)))
struct ModelTests {
    @Test(arguments: [false, true]) func theRulesAgreeWithAnIndependentModel(isShared: Bool) async throws {
        try await decide(isShared, rounds: 300, over: .memory)
    }

    @Test(arguments: [StoreKind.disk, .tiered])
    func theRulesAgreeWithTheModelOverAStoreOnDisk(kind: StoreKind) async throws {
        try await decide(false, rounds: 40, over: kind)
    }

    private func decide(_ isShared: Bool, rounds: Int, over kind: StoreKind) async throws {
        let seed = RandomSeed.next()
        var generator = SplitMix(seed: seed)
        var words: [String: Int] = [:]
        for round in 0..<rounds {
            try await kind.withStore(limit: 1 << 24) { store in
                var history = History(isShared: isShared, generator: generator, store: store)
                for step in 0..<40 {
                    let (found, expected) = try await history.step()
                    try #require(found == expected, "seed \(seed), round \(round), step \(step):\n\(history.log)")
                    words[found, default: 0] += 1
                }
                generator = history.generator
            }
        }
        // The histories reach each kind of decision.
        for word in ["hit", "stale", "stale, validating", "validate", "load", "unsatisfiable", "stored", "refused"] {
            #expect(words[word] != nil, "\(words)")
        }
    }
}

/// A cache and its model, which see the same messages.
private struct History {
    var generator: SplitMix
    private(set) var log = ""
    private let rules: CacheRules
    private let store: any CacheStore
    private var model: CacheModel
    private var now = 0
    private var lastReception = -1

    init(isShared: Bool, generator: SplitMix, store: any CacheStore) {
        self.store = store
        rules = CacheRules(isShared: isShared)
        model = CacheModel(isShared: isShared)
        self.generator = generator
    }

    /// Lets time pass, then requests or receives something. Returns the actions of the cache and the model.
    mutating func step() async throws -> (String, String) {
        now += pick([0, 0, 1, 3, 10, 30])
        let host = pick(["a", "b"])
        let own = lines([("Accept", ["x", "y"]), ("Authorization", ["secret"]), ("Cache-Control", requestDirectives)])
        if Bool.random(using: &generator) {
            return try await request(host: host, own)
        }
        let age = pick([nil, nil, nil, "0", "7", "x"])
        let date = pick([0, 0, 0, -10, 20])
        var lines = lines([
            ("Cache-Control", responseDirectives), ("ETag", ["\"1\"", "\"2\""]),
            ("Vary", ["Accept", "*", "Accept, Other"]),
        ])
        lines.append(("Date", CacheModel.text(now + date)))
        if let age { lines.append(("Age", age)) }
        if pick([true, false, false]) { lines.append(("Expires", pick(["0", CacheModel.text(now + 15)]))) }
        if pick([true, false, false]) { lines.append(("Last-Modified", CacheModel.text(now - pick([100, 5000])))) }
        return try await receive(
            host: host, own, lines, status: pick([200, 200, 200, 404, 302, 500]), delay: pick([0, 0, 2]))
    }

    private mutating func request(host: String, _ own: [CacheModel.Line]) async throws -> (String, String) {
        let request = HTTPRequest(
            method: .get, scheme: "https", authority: host, path: "/", headerFields: HTTPFields(own))
        let key = try #require(CacheKey(request))
        let decision = rules.decision(for: request, among: try await store.responses(for: key), at: at(Double(now)))
        if let answer = decision.answer { _ = try await store.body(of: answer.source.id) }
        let expected = model.decide(url: "https://\(host)/", own, at: now)
        log += "\(now): request \(host) \(own): \(decision.word), expected \(expected)\n"
        return (decision.word, expected)
    }

    private mutating func receive(
        host: String, _ own: [CacheModel.Line], _ lines: [CacheModel.Line], status: Int, delay: Int
    ) async throws -> (String, String) {
        let request = HTTPRequest(
            method: .get, scheme: "https", authority: host, path: "/", headerFields: HTTPFields(own))
        let response = HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: HTTPFields(lines))
        let key = try #require(CacheKey(request))
        // Of two responses with one Date, the one received last is preferred, so no two arrive in the same second.
        if now + delay == lastReception { now += 1 }
        let sent = now
        now += delay
        lastReception = now
        let known = try await store.responses(for: key)
        let superseded = rules.superseded(by: response, to: request, among: known)
        let entry = rules.entry(
            for: response, to: request, key: key, requestTime: at(Double(sent)), responseTime: at(Double(now)))
        if let entry {
            _ = try await store.beginEntry(entry, replacing: superseded).commit()
        } else {
            try await store.remove(superseded)
        }
        let isStored = model.receive(url: "https://\(host)/", own, lines, status: status, sent: sent, received: now)
        log += "\(now): response \(host) \(status) \(own) \(lines): \(entry != nil), expected \(isStored)\n"
        return (entry != nil ? "stored" : "refused", isStored ? "stored" : "refused")
    }

    private let requestDirectives = [
        "no-cache", "no-store", "only-if-cached", "max-age=5", "max-age=0", "max-stale", "max-stale=10", "min-fresh=5",
        "max-age=5, max-stale=3", "foo", "only-if-cached, max-stale=20",
    ]
    private let responseDirectives = [
        "max-age=20", "max-age=20", "max-age=20, s-maxage=5", "s-maxage=30", "no-store", "no-cache",
        "private, max-age=20",
        "max-age=5, stale-while-revalidate=20", "max-age=5, must-revalidate", "max-age=5, proxy-revalidate", "public",
        "max-age=10, stale-while-revalidate=30", "max-age=40, immutable", "max-age=x", "public, max-age=3",
        "max-age=3, stale-while-revalidate=30, private",
    ]

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &generator)]
    }

    /// Each field with one of its values, or without it.
    private mutating func lines(_ fields: [(String, [String])]) -> [CacheModel.Line] {
        fields.compactMap { name, values in Bool.random(using: &generator) ? (name, pick(values)) : nil }
    }
}

extension HTTPFields {
    fileprivate init(_ lines: [CacheModel.Line]) {
        self.init()
        for (name, value) in lines {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }
}
