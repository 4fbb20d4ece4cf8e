import FoundationEssentials
import HTTPTypes
import LinnetCache
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

@testable import LinnetCookies
@testable import LinnetDiskCache

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("Configurations that store", .timeLimit(.minutes(1)))
struct PersistentTests {
    @Test func theDirectoriesFollowXDG() throws {
        let places = try PersistentPlaces(
            named: "app",
            in: BaseDirectories(environment: ["XDG_CACHE_HOME": "/c", "XDG_DATA_HOME": "/d", "HOME": "/h"], home: nil))
        #expect(places.responses.path == "/c/app/http" && places.cookies.path == "/d/app/cookies.json")
        for variables in [["HOME": "/h"], ["HOME": "/h", "XDG_CACHE_HOME": "", "XDG_DATA_HOME": "relative"]] {
            let places = try PersistentPlaces(named: "app", in: BaseDirectories(environment: variables, home: "/other"))
            #expect(places.responses.path == "/h/.cache/app/http")
            #expect(places.cookies.path == "/h/.local/share/app/cookies.json")
        }
        let last = try PersistentPlaces(
            named: "app", in: BaseDirectories(environment: ["HOME": "relative"], home: "/other"))
        #expect(last.cache.path == "/other/.cache/app")
        #expect(throws: SessionError.self) {
            try PersistentPlaces(named: "app", in: BaseDirectories(environment: [:], home: nil))
        }
    }

    /// A process of a user without an entry has no home.
    @Test func theHomeComesFromTheListOfUsers() {
        var home: String?
        if let user = getpwuid(geteuid()), let path = user.pointee.pw_dir { home = String(cString: path) }
        if home?.hasPrefix("/") == false { home = nil }
        #expect(BaseDirectories.homeInTheListOfUsers == home)
    }

    @Test(arguments: [
        "", ".", "..", ".hidden", "a/b", "/a", "a\\b", "a\u{1}b", "a\nb", String(repeating: "a", count: 256),
    ])
    func aNameIsThatOfADirectory(name: String) {
        let error = #expect(throws: SessionError.self) {
            try PersistentPlaces(named: name, in: BaseDirectories(environment: ["HOME": "/h"], home: nil))
        }
        #expect(error?.code == .invalidConfiguration)
    }

    /// Credentials of requests (even if Vary names the field) and of responses.
    @Test func noCredentialsAreInTheFilesOfTheCache() async throws {
        try await withCacheFolder { folder in
            let places = try PersistentPlaces(
                named: "app", in: BaseDirectories(environment: ["HOME": folder.path], home: nil))
            let session = try HTTPSession(
                baseURL: URL(string: "http://example.com"), configuration: .persistent(in: places),
                transport: StubTransport { request in
                    let vary = request.head.path == "/a" ? "Authorization" : "Accept"
                    return .status(
                        .ok, headerFields: [.cacheControl: "max-age=600", .vary: vary, .setCookie: "id=secret"],
                        body: Data("abc".utf8))
                })
            for (path, outcome) in [("a", CacheStatistics.Outcome.miss), ("a", .miss), ("b", .miss), ("b", .hit)] {
                let response = try await session.get(path).header(.authorization, "Bearer secret").response()
                #expect(response.cacheOutcome == outcome, "\(path)")
            }
            var files = 0
            for path in try FileManager.default.subpathsOfDirectory(atPath: places.cache.path) {
                guard let data = try? Data(contentsOf: places.cache.appending(path: path)) else { continue }
                files += 1
                #expect(data.firstRange(of: Data("secret".utf8)) == nil, "\(path)")
            }
            #expect(files >= 3)
            await session.shutdown()
        }
    }

    @Test func cookiesAndResponsesSurviveInTheNextProgram() async throws {
        try await withCacheFolder { folder in
            let places = try PersistentPlaces(
                named: "app", in: BaseDirectories(environment: ["HOME": folder.path], home: nil))
            let transport = StubTransport { _ in
                .status(
                    .ok, headerFields: [.cacheControl: "max-age=600", .setCookie: "id=1; Max-Age=600"],
                    body: Data("abc".utf8))
            }
            for expected in [CacheStatistics.Outcome.miss, .hit] {
                let session = try HTTPSession(
                    baseURL: URL(string: "http://example.com"), configuration: .persistent(in: places),
                    transport: transport)
                let response = try await session.get("a").response(StringResponseSerializer())
                #expect(response.value == "abc" && response.cacheOutcome == expected)
                await session.shutdown()
            }
            #expect(transport.requests.count == 1)
            let jar = try CookieJar(contentsOf: places.cookies)
            #expect(jar.all.map(\.name) == ["id"])
            let other = try HTTPSession.Configuration.persistent(in: places)
            #expect(other.cookieJar?.all.map(\.name) == ["id"])
        }
    }

    @Test func changesOfTheProgramAreSavedAtTheEnd() async throws {
        try await withCacheFolder { folder in
            let places = try PersistentPlaces(
                named: "app", in: BaseDirectories(environment: ["HOME": folder.path], home: nil))
            let configuration = try HTTPSession.Configuration.persistent(in: places)
            let url = try #require(URL(string: "http://example.com/"))
            configuration.cookieJar?.store(setCookieFields: [.setCookie: "a=1; Max-Age=60"], of: url)
            let session = try HTTPSession(
                baseURL: url, configuration: configuration, transport: StubTransport { _ in .status(.ok) })
            await session.shutdown()
            #expect(try CookieJar(contentsOf: places.cookies).all.map(\.name) == ["a"])
        }
    }

    /// The program may keep the jar alone.
    @Test func savingEndsWithTheConfiguration() async throws {
        try await withCacheFolder { folder in
            let places = try PersistentPlaces(
                named: "app", in: BaseDirectories(environment: ["HOME": folder.path], home: nil))
            var configuration: HTTPSession.Configuration? = try HTTPSession.Configuration.persistent(
                in: places)
            let jar = try #require(configuration?.cookieJar)
            #expect(jar.storage.subscriberCount == 1)
            configuration = nil
            while jar.storage.subscriberCount > 0, !Task.isCancelled { await Task.yield() }
            #expect(jar.storage.subscriberCount == 0)
        }
    }

    @Test func aDamagedFileOfCookiesIsRenamed() async throws {
        try await withCacheFolder { folder in
            let places = try PersistentPlaces(
                named: "app", in: BaseDirectories(environment: ["HOME": folder.path], home: nil))
            _ = try HTTPSession.Configuration.persistent(in: places)
            try Data("garbage".utf8).write(to: places.cookies)
            #expect(try HTTPSession.Configuration.persistent(in: places).cookieJar?.all.isEmpty == true)
            #expect(names(in: places.data).contains { $0.contains("corrupt") })
        }
    }

    @Test func directoriesThatOthersCanWriteAreRefused() async throws {
        try await withCacheFolder { folder in
            for path in [".cache/app/http", ".local/share/app"] {
                let places = try PersistentPlaces(
                    named: "app", in: BaseDirectories(environment: ["HOME": folder.path], home: nil))
                _ = try HTTPSession.Configuration.persistent(in: places)
                let place = folder.appending(path: path)
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
                try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: place.path)
                let error = #expect(throws: SessionError.self) { try HTTPSession.Configuration.persistent(in: places) }
                #expect(error?.code == .invalidConfiguration)
                try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: place.path)
            }
        }
    }

    @Test func otherConfigurationsStoreNothingOnDisk() async throws {
        #expect(
            HTTPSession.Configuration.default.cookieJar == nil && HTTPSession.Configuration.default.cacheStore == nil)
        let (one, other) = (HTTPSession.Configuration.ephemeral, HTTPSession.Configuration.ephemeral)
        #expect(one.cacheStore is MemoryCacheStore)
        #expect(one.cookieJar != nil && one.cookieJar !== other.cookieJar)
    }
}
