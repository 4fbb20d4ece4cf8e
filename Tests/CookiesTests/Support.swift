import CommandSupport
import FoundationEssentials
import HTTPTypes
import Synchronization
import Testing

@testable import LinnetCookies

/// 2023-11-14 22:13:20 GMT, the time of all tests that do not set another.
let testTime = Date(timeIntervalSince1970: 1_700_000_000)

/// A clock that a test sets.
final class TestClock: Sendable {
    private let date = Mutex(testTime)

    var now: Date { date.withLock { $0 } }

    func advance(by seconds: Double) { date.withLock { $0.addTimeInterval(seconds) } }
}

/// A list of the usual kinds of rules.
let testSuffixes = PublicSuffixList(
    parsing: """
        // comment
        com
        example
        org
        jp
        co.jp
        *.kawasaki.jp
        !city.kawasaki.jp
        uk
        co.uk
        *.ck
        !www.ck
        github.io
        中国
        公司.cn
        """)

func makeJar(
    _ clock: TestClock = TestClock(), suffixes: PublicSuffixList = testSuffixes,
    policy: CookieJar.AcceptPolicy = .always
) -> CookieJar {
    CookieJar {
        $0.now = { clock.now }
        $0.publicSuffixes = suffixes
        $0.acceptPolicy = policy
    }
}

func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

func fields(_ values: [String]) -> HTTPFields {
    var fields = HTTPFields()
    for value in values { fields.append(HTTPField(name: .setCookie, lenientValue: Array(value.utf8))) }
    return fields
}

func text(_ field: HTTPField?) -> String {
    field.map { String(decoding: $0.withUnsafeBytesOfValue { Array($0) }, as: UTF8.self) } ?? ""
}

extension CookieJar {
    /// Stores the fields of a response, and returns how many of them set a cookie.
    @discardableResult
    func receive(_ values: String..., from address: String, context: CookieContext = .sameSite) throws -> Int {
        store(setCookieFields: fields(values), of: try url(address), context: context).count
    }

    /// The cookie-string for a request; empty without cookies.
    func string(for address: String, context: CookieContext = .sameSite) throws -> String {
        text(cookieHeader(for: try url(address), context: context))
    }
}

extension CookieTable {
    /// The step that refuses a field; nil if it sets a cookie. Reads the octets of the field as they are.
    mutating func refusal(
        of field: String, from address: String = "https://host.site.example/dir/page",
        context: CookieContext = .sameSite
    ) throws -> CookieRefusal? {
        let request = try #require(CookieRequest(try url(address), context, suffixes))
        do throws(CookieRefusal) {
            try receive(try SetCookie(parsing: Array(field.utf8)), of: request, now: testTime)
            return nil
        } catch {
            return error
        }
    }
}

/// A new folder, which is removed at the end.
func withFolder<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-cookies-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await body(folder)
}

func makeCookie(
    _ name: String, _ value: String = "v", domain: String = "site.example", path: String = "/", isHostOnly: Bool = true,
    lifetime: Double? = 3600, isSecure: Bool = false, created: Date = testTime
) throws -> StoredCookie {
    try StoredCookie(
        name: name, value: value, domain: domain, path: path, isHostOnly: isHostOnly,
        expires: lifetime.map { testTime.addingTimeInterval($0) }, isSecure: isSecure, creationDate: created)
}
