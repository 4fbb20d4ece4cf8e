import FoundationEssentials
import HTTPTypes
import Testing

@testable import LinnetCookies

@Suite("Cookie jar", .timeLimit(.minutes(1)))
struct CookieJarTests {
    @Test func theProgramSetsCookies() throws {
        let jar = makeJar()
        jar.set(try makeCookie("a", "1"))
        jar.set(try makeCookie("a", "2"))
        #expect(try jar.string(for: "https://site.example/") == "a=2")
        #expect(try jar.string(for: "https://a.site.example/") == "")
        // An expired cookie removes the stored one.
        jar.set(try makeCookie("a", "3", lifetime: -1))
        #expect(jar.all.isEmpty)
    }

    @Test func cookiesAreRemoved() throws {
        let jar = makeJar()
        for name in ["a", "b", "c"] { jar.set(try makeCookie(name, lifetime: name == "b" ? nil : 60)) }
        jar.removeSessionCookies()
        #expect(jar.all.map(\.name) == ["a", "c"])
        jar.remove { $0.name == "a" }
        #expect(jar.all.map(\.name) == ["c"])
        jar.removeAll()
        #expect(jar.all.isEmpty)
        #expect(jar.cookieHeader(for: try url("https://site.example/")) == nil)
    }

    // The predicate is the program's code, and runs without the jar's lock.
    @Test func thePredicateMayUseTheJar() throws {
        let jar = makeJar()
        for name in ["a", "b"] { jar.set(try makeCookie(name, "1")) }
        try jar.remove { cookie in
            if cookie.name == "a" { jar.set(try makeCookie("a", "2")) }
            return true
        }
        // A cookie that changed meanwhile stays.
        #expect(jar.all.map { "\($0.name)=\($0.value)" } == ["a=2"])
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { try jar.remove { _ in throw Refusal() } }
        #expect(jar.all.count == 1)
    }

    @Test func fieldsOtherThanSetCookieAreIgnored() throws {
        let jar = makeJar()
        let fields: HTTPFields = [.cookie: "a=1", .setCookie: "b=2", .contentType: "c=3"]
        #expect(jar.store(setCookieFields: fields, of: try url("https://site.example/")).map(\.name) == ["b"])
        #expect(jar.all.map(\.name) == ["b"])
    }

    // Section 5.6: a field that is refused does not affect the others.
    @Test func storingReturnsTheSetCookies() throws {
        let jar = makeJar()
        let stored = jar.store(
            setCookieFields: fields(["a=1", "=", "b=2; Domain=com", "c=3; Max-Age=0", "d=4; Path=/d"]),
            of: try url("https://site.example/"))
        #expect(stored.map(\.name) == ["a", "c", "d"])
        #expect(jar.all.map(\.name) == ["a", "d"])
    }

    @Test func manyThreadsShareAJar() async throws {
        let jar = makeJar()
        let changes = jar.changes
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for index in 0..<100 {
                        _ = try? jar.receive("c\(index)=\(task)", from: "https://host\(task).example/")
                        _ = try? jar.string(for: "https://host\(task).example/")
                    }
                }
            }
        }
        #expect(jar.all.count == 400)
        for task in 0..<8 {
            let cookies = jar.cookies(for: try url("https://host\(task).example/"))
            #expect(cookies.map(\.name) == (50..<100).map { "c\($0)" })
        }
        // 800 stored and 400 evicted ones. The latest 1,000 are kept.
        #expect(changes.droppedCount == 200)
    }
}

@Suite("Changes of a cookie jar", .timeLimit(.minutes(1)))
struct CookieChangeTests {
    private func next(_ iterator: inout CookieJar.Changes.Iterator, _ count: Int) async -> [String] {
        var found: [String] = []
        for _ in 0..<count {
            guard let change = await iterator.next() else { break }
            found.append("\(change.kind) \(change.cookie.name)=\(change.cookie.value)")
        }
        return found
    }

    @Test func eachChangeIsReportedInOrder() async throws {
        let clock = TestClock()
        let jar = makeJar(clock)
        try jar.receive("before=1", from: "https://site.example/")
        var iterator = jar.changes.makeAsyncIterator()
        try jar.receive("a=1; Max-Age=5", "a=2; Max-Age=5", "b=1", "b=; Max-Age=0", from: "https://site.example/")
        _ = try jar.string(for: "https://site.example/")
        clock.advance(by: 5)
        #expect(jar.all.map(\.name) == ["before"])
        jar.removeAll()
        for index in 0..<51 { try jar.receive("c\(index)=1", from: "https://site.example/") }
        #expect(
            await next(&iterator, 7) == [
                "stored a=1", "replaced a=2", "stored b=1", "removed b=1", "expired a=2", "removed before=1",
                "stored c0=1",
            ])
        #expect(await next(&iterator, 51).suffix(2) == ["stored c50=1", "evicted c0=1"])
    }

    @Test func aSlowReaderLosesTheOldestChangesAndLearnsTheirNumber() async throws {
        let jar = makeJar()
        let changes = jar.changes
        for index in 0..<1500 { jar.set(try makeCookie("a", "\(index)")) }
        #expect(changes.droppedCount == 500)
        var iterator = changes.makeAsyncIterator()
        #expect(await next(&iterator, 2) == ["replaced a=500", "replaced a=501"])
        jar.set(try makeCookie("a", "last"))
        #expect(changes.droppedCount == 500)
        #expect(await next(&iterator, 999).last == "replaced a=last")
    }

    @Test func theSequenceEndsWithTheJar() async throws {
        var jar: CookieJar? = makeJar()
        let changes = try #require(jar).changes
        jar?.set(try makeCookie("a"))
        let reader = Task { await changes.reduce(into: 0) { count, _ in count += 1 } }
        weak let released = jar
        jar = nil
        #expect(released == nil)
        #expect(await reader.value == 1)
    }

    @Test func cancellingTheReaderEndsIt() async throws {
        let jar = makeJar()
        let changes = jar.changes
        let reader = Task {
            var iterator = changes.makeAsyncIterator()
            return await iterator.next()
        }
        reader.cancel()
        #expect(await reader.value == nil)
        // The next reader gets the next changes.
        jar.set(try makeCookie("a"))
        var iterator = changes.makeAsyncIterator()
        #expect(await next(&iterator, 1) == ["stored a=v"])
    }

    @Test func severalSubscribersGetAllChanges() async throws {
        let jar = makeJar()
        let sequences = [jar.changes, jar.changes]
        jar.set(try makeCookie("a"))
        for changes in sequences {
            var iterator = changes.makeAsyncIterator()
            #expect(await next(&iterator, 1) == ["stored a=v"])
        }
    }

    @Test func eachChangeGoesToOneOfSeveralReaders() async throws {
        let jar = makeJar()
        let changes = jar.changes
        let readers = (0..<5).map { _ in
            Task {
                var iterator = changes.makeAsyncIterator()
                return await iterator.next()?.cookie.name
            }
        }
        for index in 0..<5 { jar.set(try makeCookie("c\(index)")) }
        var names: Set<String?> = []
        for reader in readers { names.insert(await reader.value) }
        #expect(names == Set((0..<5).map { "c\($0)" }))
    }
}
