public import FoundationEssentials
internal import LinnetMessages

/// The format of `cookies.txt`, which curl, wget, Python's `http.cookiejar` and browser extensions read and write.
///
/// ```swift
/// for cookie in NetscapeCookies(parsing: try Data(contentsOf: file)).cookies { jar.set(cookie) }
/// try NetscapeCookies(jar.all).data.write(to: file)
/// ```
///
/// A line has seven fields with tabs between them: the domain, with a leading dot if subdomains receive the cookie;
/// whether subdomains receive it; the path; whether the cookie is secure; the expiry time in seconds since 1970, or 0
/// for a session cookie; the name; the value. `#HttpOnly_` before the domain stands for HttpOnly, and other lines with
/// a `#` are comments.
///
/// The format has no SameSite attribute and no times of creation and use: the parser fills in the default and the
/// current time. Python treats a session cookie as expired and skips it, unless told `ignore_expires=True`; curl turns
/// a cookie without a name into a cookie without a value.
public struct NetscapeCookies: Sendable {
    /// The cookies.
    public private(set) var cookies: [StoredCookie] = []
    /// The numbers of the ignored lines, from 1: neither comments nor valid cookies.
    public private(set) var malformedLines: [Int] = []

    /// Makes a file of cookies.
    public init(_ cookies: [StoredCookie]) { self.cookies = cookies }

    /// Parses a file. The first line needs no header. Parsing takes linear time, and never fails as a whole.
    ///
    /// - Parameters:
    ///   - data: The contents of the file.
    ///   - now: The time of creation of the cookies. The default is now.
    public init(parsing data: Data, now: Date = Date()) {
        var number = 0
        for line in [UInt8](data).split(separator: 0x0A, omittingEmptySubsequences: false) {
            number += 1
            guard let line = Self.withoutComment(line) else { continue }
            guard let cookie = Self.cookie(line.fields, isHTTPOnly: line.isHTTPOnly, now: now) else {
                malformedLines.append(number)
                continue
            }
            cookies.append(cookie)
        }
    }

    /// The cookies that the format cannot express, because a name, value or path contains a tab. ``data`` does not
    /// contain them.
    public var omittedCookies: [StoredCookie] { cookies.filter { !Self.isExpressible($0) } }

    /// The contents of a file with the cookies, in their order.
    public var data: Data {
        var bytes = Array("# Netscape HTTP Cookie File\n".utf8)
        for cookie in cookies where Self.isExpressible(cookie) { Self.append(cookie, to: &bytes) }
        return Data(bytes)
    }
}

// Reading.
extension NetscapeCookies {
    private typealias Bytes = ArraySlice<UInt8>

    private static let httpOnlyPrefix = Array("#HttpOnly_".utf8)

    /// The fields of a line; nil for a comment and for an empty line.
    private static func withoutComment(_ line: Bytes) -> (fields: [Bytes], isHTTPOnly: Bool)? {
        var line = line.last == 0x0D ? line.dropLast() : line
        let isHTTPOnly = line.starts(with: httpOnlyPrefix)
        if isHTTPOnly { line = line.dropFirst(httpOnlyPrefix.count) }
        guard isHTTPOnly || line.first != UInt8(ascii: "#"), !line.allSatisfy(ASCII.isBlank) else { return nil }
        // A value with a tab makes the line malformed: splitting into at most eight fields reveals it.
        return (line.split(separator: 0x09, maxSplits: 7, omittingEmptySubsequences: false), isHTTPOnly)
    }

    private static func cookie(_ fields: [Bytes], isHTTPOnly: Bool, now: Date) -> StoredCookie? {
        guard fields.count == 7, let includesSubdomains = bool(fields[1]), let isSecure = bool(fields[3]),
            let expires = expiry(fields[4])
        else { return nil }
        let domain = fields[0].first == UInt8(ascii: ".") ? fields[0].dropFirst() : fields[0]
        guard let host = HostName(String(decoding: domain, as: UTF8.self)) else { return nil }
        let cookie = StoredCookie(
            name: CookieBytes(fields[5]), value: CookieBytes(fields[6]), domain: host, path: CookieBytes(fields[2]),
            isHostOnly: !includesSubdomains, expires: expires.date, isSecure: isSecure, isHTTPOnly: isHTTPOnly,
            sameSite: .default, creationDate: now)
        return (try? cookie.validate()).map { cookie }
    }

    private static func bool(_ field: Bytes) -> Bool? {
        switch String(decoding: field.prefix(6).map(ASCII.lowercase), as: UTF8.self) {
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// The expiry date, a nil date for a session cookie; nil if the field is not a whole number. Python leaves the
    /// field empty for a session cookie.
    private static func expiry(_ field: Bytes) -> (date: Date?, Void)? {
        if field.isEmpty { return (nil, ()) }
        guard field.count <= 20, let seconds = Int64(String(decoding: field, as: UTF8.self)) else { return nil }
        return (seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds)), ())
    }
}

// Writing.
extension NetscapeCookies {
    private static func isExpressible(_ cookie: StoredCookie) -> Bool {
        ![cookie.nameBytes, cookie.valueBytes, cookie.pathBytes].contains { $0.bytes.contains(0x09) }
    }

    private static func append(_ cookie: StoredCookie, to bytes: inout [UInt8]) {
        if cookie.isHTTPOnly { bytes += httpOnlyPrefix }
        let fields = [
            Array(((cookie.isHostOnly ? "" : ".") + cookie.domain).utf8),
            Array((cookie.isHostOnly ? "FALSE" : "TRUE").utf8),
            cookie.pathBytes.bytes, Array((cookie.isSecure ? "TRUE" : "FALSE").utf8),
            Array(String(seconds(cookie.expires)).utf8), cookie.nameBytes.bytes, cookie.valueBytes.bytes,
        ]
        bytes += fields.joined(separator: [0x09])
        bytes.append(0x0A)
    }

    /// The time in whole seconds; 0 for a session cookie.
    private static func seconds(_ expires: Date?) -> Int64 {
        guard let seconds = expires?.timeIntervalSince1970 else { return 0 }
        let limited = min(max(seconds.rounded(.down), -62_135_596_800), 253_402_300_799)
        return limited == 0 || limited.isNaN ? -1 : Int64(limited)
    }
}
