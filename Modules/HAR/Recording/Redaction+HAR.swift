internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages

extension Redaction {
    /// Returns the fields, redacted. The names and attributes of cookies that a server sets stay.
    func pairs(_ fields: HTTPFields) -> [HAR.Pair] {
        fields.map { field in
            if field.name == .setCookie, fieldNames.contains(.setCookie) {
                return HAR.Pair(field.name.rawName, SetCookieText(field.value).text(value: Self.mark))
            }
            return HAR.Pair(field.name.rawName, value(of: field))
        }
    }

    /// Returns the cookies of a request, redacted.
    func cookies(in request: HTTPFields) -> [HAR.Cookie] {
        let isHidden = fieldNames.contains(.cookie)
        return request[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { text in
            let pair = CookiePair(text)
            guard !pair.name.isEmpty else { return nil }
            return HAR.Cookie(name: pair.name, value: isHidden ? Self.mark : pair.value)
        }
    }

    /// Returns the cookies that a response sets, redacted.
    func cookies(setBy response: HTTPFields) -> [HAR.Cookie] {
        let isHidden = fieldNames.contains(.setCookie)
        return response[values: .setCookie].map { text in
            let text = SetCookieText(text)
            var cookie = HAR.Cookie(name: text.pair.name, value: isHidden ? Self.mark : text.pair.value)
            cookie.path = text["path"]
            cookie.domain = text["domain"]
            cookie.expires = text["expires"]
            cookie.isHTTPOnly = text["httponly"] != nil
            cookie.isSecure = text["secure"] != nil
            return cookie
        }
    }

    /// Returns the parameters of the query of a redacted URL, decoded.
    func parameters(ofRedacted url: String) -> [HAR.Pair] {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        let query = url[url.utf8.index(after: mark)...].prefix { $0 != "#" }
        return query.split(separator: "&").map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return HAR.Pair(Self.text(parts[0]), parts.count > 1 ? Self.text(parts[1]) : "")
        }
    }

    private static func text(_ coded: Substring) -> String {
        String(decoding: PercentCoding.decoded(coded.utf8, plusIsSpace: true), as: UTF8.self)
    }
}

/// The name and value of a cookie (RFC 6265, section 5.2). A text without an equals sign is a value, which may be a
/// secret.
private struct CookiePair {
    let name: String
    let value: String

    init(_ text: some StringProtocol) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        name = parts.count > 1 ? Self.trimmed(parts[0]) : ""
        value = Self.trimmed(parts.last ?? "")
    }

    static func trimmed(_ text: some StringProtocol) -> String {
        let start = text.drop { $0 == " " || $0 == "\t" }
        return String(start.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}

/// The value of a Set-Cookie field.
private struct SetCookieText {
    /// The attributes whose values are no secrets.
    private static let attributes = [
        "path", "domain", "expires", "max-age", "secure", "httponly", "samesite", "partitioned",
    ]

    let pair: CookiePair
    private let known: [(name: String, text: String, value: String)]

    init(_ text: String) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        pair = CookiePair(parts[0])
        known = parts.dropFirst().compactMap { part in
            let text = CookiePair.trimmed(part)
            let words = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = CookiePair.trimmed(words.first ?? "").lowercased()
            guard Self.attributes.contains(name) else { return nil }
            return (name, text, words.count > 1 ? CookiePair.trimmed(words[1]) : "")
        }
    }

    /// The last value of an attribute, which counts.
    subscript(name: String) -> String? { known.last { $0.name == name }?.value }

    /// The text with another value, and the known attributes.
    func text(value: String) -> String {
        ([pair.name.isEmpty ? value : "\(pair.name)=\(value)"] + known.map(\.text)).joined(separator: "; ")
    }
}
