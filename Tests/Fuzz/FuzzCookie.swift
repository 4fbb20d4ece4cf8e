// Modules: Cookies
import FoundationEssentials
import HTTPTypes
import LinnetCookies

private let suffixes = PublicSuffixList(parsing: "example\nuk\nco.uk\n*.ck\n!www.ck\n")

/// Stores each line of the input as a Set-Cookie field of a response, then sends the cookies, encodes them and writes
/// them as `cookies.txt`. The first byte determines the URL. The input is also parsed as `cookies.txt` and as a list of
/// suffixes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCookie(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let input = Array(UnsafeBufferPointer(start: data + 1, count: count - 1))
    let addresses = [
        "https://a.site.example/b/c", "http://site.co.uk", "https://[::1]/", "http://localhost/a?b=/c",
        "https://site.example/b;c=1/d",
    ]
    guard let url = URL(string: addresses[Int(data[0]) % addresses.count]) else { return 0 }
    let now = Date(timeIntervalSince1970: 1_700_000_000)
    let jar = CookieJar {
        $0.publicSuffixes = suffixes
        $0.now = { now }
    }
    var fields = HTTPFields()
    for line in input.split(separator: 0x0A) { fields.append(HTTPField(name: .setCookie, lenientValue: line)) }
    jar.store(setCookieFields: fields, of: url)
    for cookie in jar.all { check(cookie, now) }
    guard let field = jar.cookieHeader(for: url) else { return parse(input, now) }
    let octets = field.withUnsafeBytesOfValue { Array($0) }
    guard octets.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
        fatalError("The field has a control character.")
    }
    return parse(input, now)
}

/// A server's cookie is coded and written without a change.
private func check(_ cookie: StoredCookie, _ now: Date) {
    guard cookie.expires.map({ $0 <= now.addingTimeInterval(34_560_000) }) ?? true else {
        fatalError("It expires too late.")
    }
    guard let coded = try? JSONEncoder().encode(cookie),
        let copy = try? JSONDecoder().decode(StoredCookie.self, from: coded),
        copy == cookie
    else { fatalError("Coding changes the cookie.") }
    let file = NetscapeCookies([cookie])
    let written = NetscapeCookies(parsing: file.data, now: now)
    guard written.malformedLines.isEmpty, written.cookies.count + file.omittedCookies.count == 1 else {
        fatalError("The written cookie cannot be read.")
    }
}

private func parse(_ input: [UInt8], _ now: Date) -> CInt {
    let file = NetscapeCookies(parsing: Data(input), now: now)
    guard NetscapeCookies(parsing: file.data, now: now).cookies.count == file.cookies.count else {
        fatalError("A cookie that was read cannot be written.")
    }
    let list = PublicSuffixList(parsing: String(decoding: input, as: UTF8.self))
    let host = String(decoding: input.prefix(40), as: UTF8.self)
    if let domain = list.registrableDomain(of: host), list.isPublicSuffix(domain) {
        fatalError("A registrable domain is a suffix.")
    }
    return 0
}
