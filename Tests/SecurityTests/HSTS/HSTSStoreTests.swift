import FoundationEssentials
import Synchronization
import Testing

@testable import LinnetSecurity

/// Known hosts (RFC 6797, section 8).
@Suite(.timeLimit(.minutes(1)))
struct HSTSStoreTests {
    private final class Time: Sendable {
        private let date = Mutex(Date(timeIntervalSince1970: 1_700_000_000))
        var now: Date { date.withLock { $0 } }
        func advance(by seconds: Double) { date.withLock { $0.addTimeInterval(seconds) } }
    }

    private let time = Time()

    private func makeStore(limit: Int = 100) -> HSTSStore {
        HSTSStore(limit: limit, now: { [time] in time.now })
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func isUpgraded(_ text: String, by store: HSTSStore) throws -> Bool {
        store.upgrading(try url(text)) != (try url(text))
    }

    private func store(_ field: String, of text: String, in store: HSTSStore) throws {
        store.store(strictTransportSecurity: [field], of: try url(text))
    }

    /// Section 8.3, step 5.
    @Test(arguments: [
        ("http://example.com", "https://example.com"), ("HTTP://Example.COM/a?b#c", "https://Example.COM/a?b#c"),
        ("http://example.com:80/a", "https://example.com/a"), ("http://example.com:/", "https://example.com/"),
        ("http://example.com:8080/", "https://example.com:8080/"),
        ("http://example.com:443/", "https://example.com:443/"), ("http://example.com./a", "https://example.com./a"),
        ("http://u:80@example.com:80/", "https://u:80@example.com/"),
        ("http://u:p@example.com/", "https://u:p@example.com/"),
        ("https://example.com/", "https://example.com/"), ("https://example.com:80/", "https://example.com:80/"),
        ("http://example.org/", "http://example.org/"), ("http://www.example.com/", "http://www.example.com/"),
        ("http://com/", "http://com/"), ("ftp://example.com/", "ftp://example.com/"), ("/a", "/a"),
    ])
    func theURLOfAKnownHostIsUpgraded(text: String, expected: String) throws {
        let store = makeStore()
        try self.store("max-age=10", of: "https://example.com/", in: store)
        #expect(store.upgrading(try url(text)).absoluteString == expected)
    }

    /// Section 8.2.
    @Test func subdomainsAreIncludedIfTheFieldSaysSo() throws {
        let store = makeStore()
        try self.store("max-age=10; includeSubDomains", of: "https://example.com/", in: store)
        for host in ["example.com", "www.example.com", "a.b.example.com", "WWW.example.com."] {
            #expect(try isUpgraded("http://\(host)/", by: store))
        }
        for host in ["com", "notexample.com", "example.com.org"] {
            #expect(try !isUpgraded("http://\(host)/", by: store))
        }
        // The end of a name below does not end the domain's.
        try self.store("max-age=10", of: "https://www.example.com/", in: store)
        try self.store("max-age=0", of: "https://www.example.com/", in: store)
        #expect(try isUpgraded("http://www.example.com/", by: store))
    }

    /// Section 8.1.
    @Test func aHostEndsWithItsAge() throws {
        let store = makeStore()
        try self.store("max-age=10", of: "https://example.com/", in: store)
        time.advance(by: 9)
        try self.store("max-age=10", of: "https://example.com/", in: store)
        time.advance(by: 9)
        #expect(try isUpgraded("http://example.com/", by: store))
        time.advance(by: 1)
        #expect(try !isUpgraded("http://example.com/", by: store))
        #expect(store.hosts.isEmpty)
        try self.store("max-age=10", of: "https://example.com/", in: store)
        try self.store("max-age=0", of: "https://example.com/", in: store)
        #expect(try !isUpgraded("http://example.com/", by: store))
    }

    @Test func aSecondIsAnAge() throws {
        let store = makeStore()
        try self.store("max-age=1", of: "https://example.com/", in: store)
        #expect(store.hosts.map(\.name) == ["example.com"])
        time.advance(by: 1)
        #expect(store.hosts.isEmpty)
    }

    /// Section 8.1: the first field counts, and only of a secure response of a name.
    @Test func otherwiseNothingIsStored() throws {
        let store = makeStore()
        store.store(strictTransportSecurity: [], of: try url("https://a.example/"))
        store.store(strictTransportSecurity: ["max-age", "max-age=10"], of: try url("https://a.example/"))
        for text in [
            "http://a.example/", "https://192.0.2.1/", "https://[2001:db8::1]/", "https://[::ffff:192.0.2.1]/", "/a",
        ] {
            try self.store("max-age=10; includeSubDomains", of: text, in: store)
        }
        #expect(store.hosts.isEmpty)
        store.add([HSTSStore.Host(name: "192.0.2.1", includesSubdomains: true, expires: .distantFuture)])
        #expect(try !isUpgraded("http://192.0.2.1/", by: store))
    }

    @Test func aFileIsTheCallers() throws {
        let store = makeStore()
        try self.store("max-age=10; includeSubDomains", of: "https://b.example/", in: store)
        store.add([
            HSTSStore.Host(name: "A.example.", includesSubdomains: false, expires: .distantFuture),
            HSTSStore.Host(name: "old.example", includesSubdomains: false, expires: time.now),
            HSTSStore.Host(name: "münchen.example", includesSubdomains: false, expires: .distantFuture),
        ])
        #expect(store.hosts.map(\.name) == ["a.example", "b.example"])
        let data = try JSONEncoder().encode(store.hosts)
        let other = makeStore()
        other.add(try JSONDecoder().decode([HSTSStore.Host].self, from: data))
        #expect(other.hosts == store.hosts)
        other.remove("B.EXAMPLE")
        #expect(other.hosts.map(\.name) == ["a.example"])
        other.removeAll()
        #expect(other.hosts.isEmpty)
    }

    @Test(arguments: [0, 1]) func aStoreKeepsAtLeastOneHost(limit: Int) throws {
        let store = makeStore(limit: limit)
        try self.store("max-age=10", of: "https://a.example/", in: store)
        try self.store("max-age=10", of: "https://b.example/", in: store)
        #expect(store.hosts.map(\.name) == ["b.example"])
    }

    /// A sixteenth of the places becomes free at once.
    @Test(arguments: [(16, 15), (32, 30), (15, 15)])
    func aFullStoreMakesRoom(limit: Int, left: Int) throws {
        let store = makeStore(limit: limit)
        for index in 0..<limit { try self.store("max-age=10", of: "https://h\(index).example/", in: store) }
        #expect(store.hosts.count == limit)
        try self.store("max-age=10", of: "https://last.example/", in: store)
        let kept = (limit + 1 - left..<limit).map { "h\($0).example" } + ["last.example"]
        #expect(store.hosts.map(\.name) == kept.sorted())
    }

    @Test func hostsAreInTheOrderOfTheirNames() throws {
        let store = makeStore()
        for name in ["b", "c", "a"] { try self.store("max-age=10", of: "https://\(name).example/", in: store) }
        #expect(store.hosts.map(\.name) == ["a.example", "b.example", "c.example"])
    }

    @Test func theNumberOfHostsIsBounded() throws {
        let store = makeStore(limit: 64)
        try self.store("max-age=1", of: "https://short.example/", in: store)
        try self.store("max-age=100", of: "https://kept.example/", in: store)
        time.advance(by: 2)
        for index in 0..<10_000 {
            try self.store("max-age=100", of: "https://h\(index).example/", in: store)
            if index.isMultiple(of: 8) { try self.store("max-age=100", of: "https://kept.example/", in: store) }
            if index.isMultiple(of: 500) { #expect(store.hosts.count <= 64) }
        }
        // The most recently confirmed hosts are kept.
        #expect(try isUpgraded("http://kept.example/", by: store))
        #expect(try isUpgraded("http://h9999.example/", by: store))
        #expect(try !isUpgraded("http://h0.example/", by: store))
        #expect(store.hosts.count > 48)
    }
}
