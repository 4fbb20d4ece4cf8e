internal import FoundationEssentials
internal import LinnetMessages

/// A parsed set-cookie-string (RFC 6265bis, section 5.6): the server's wish, before any rule on who may set which
/// cookie.
///
/// The last valid attribute of a name counts. Parsing takes linear time.
struct SetCookie: Equatable {
    let name: CookieBytes
    let value: CookieBytes
    /// The date of Expires (section 5.6.1), without an upper limit.
    private(set) var expires: Date?
    /// The seconds of Max-Age (section 5.6.2), at most `Int64.max`.
    private(set) var maximumAge: Int64?
    /// Domain (section 5.6.3) in lower case without its leading dot; empty if the server sent an empty attribute.
    private(set) var domain: CookieBytes?
    /// Whether there is a Path attribute, valid or not.
    private(set) var hasPath = false
    /// Path (section 5.6.4); nil for the default path.
    private(set) var path: CookieBytes?
    private(set) var isSecure = false
    private(set) var isHTTPOnly = false
    private(set) var sameSite = StoredCookie.SameSite.default

    init(parsing bytes: [UInt8]) throws(CookieRefusal) {
        guard !bytes.contains(where: \.isCookieControl) else { throw .control }
        let end = bytes.firstIndex(of: UInt8(ascii: ";")) ?? bytes.endIndex
        let pair = Self.split(bytes[..<end])
        // Without a "=", the whole pair is the value.
        (name, value) =
            pair.value.map { (CookieBytes(pair.name), CookieBytes($0)) } ?? (CookieBytes(""), CookieBytes(pair.name))
        guard name.count + value.count <= StoredCookie.longestPair else { throw .tooLong }
        var rest = bytes[end...]
        while !rest.isEmpty {
            rest = rest.dropFirst()
            let attribute = rest.prefix { $0 != UInt8(ascii: ";") }
            read(attribute)
            rest = rest[attribute.endIndex...]
        }
    }

    private mutating func read(_ attribute: ArraySlice<UInt8>) {
        let (name, given) = Self.split(attribute)
        let value = given ?? []
        guard value.count <= StoredCookie.longestAttribute, let known = Attribute(name) else { return }
        switch known {
        case .expires: expires = CookieDate.parse(value) ?? expires
        case .maximumAge: maximumAge = Self.seconds(value) ?? maximumAge
        case .domain:
            domain = CookieBytes((value.first == UInt8(ascii: ".") ? value.dropFirst() : value).map(ASCII.lowercase))
        case .path:
            hasPath = true
            path = value.first == UInt8(ascii: "/") ? CookieBytes(value) : nil
        case .secure: isSecure = true
        case .httpOnly: isHTTPOnly = true
        case .sameSite: sameSite = Self.sameSite(value)
        }
    }

    /// Splits at the first `=`, and removes the space around both parts. Without a `=` the value is nil.
    private static func split(_ bytes: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>?) {
        guard let equals = bytes.firstIndex(of: UInt8(ascii: "=")) else { return (trimmed(bytes), nil) }
        return (trimmed(bytes[..<equals]), trimmed(bytes[equals...].dropFirst()))
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let start = bytes.drop(while: ASCII.isBlank)
        guard let last = start.lastIndex(where: { !ASCII.isBlank($0) }) else { return [] }
        return start[...last]
    }

    /// The seconds of Max-Age (section 5.6.2, steps 1 to 4). A number out of range becomes the largest or the smallest
    /// one.
    private static func seconds(_ value: ArraySlice<UInt8>) -> Int64? {
        let isNegative = value.first == UInt8(ascii: "-")
        let digits = isNegative ? value.dropFirst() : value
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        var number: Int64 = 0
        for digit in digits {
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeSum) = product.addingReportingOverflow(Int64(digit - 0x30))
            guard !isTooLarge, !isTooLargeSum else { return isNegative ? .min : .max }
            number = sum
        }
        return isNegative ? -number : number
    }

    private static func sameSite(_ value: ArraySlice<UInt8>) -> StoredCookie.SameSite {
        let lowercased = value.map(ASCII.lowercase)
        return [.none, .strict, .lax].first { lowercased.elementsEqual($0.rawValue.utf8) } ?? .default
    }
}

extension SetCookie {
    private enum Attribute {
        case expires, maximumAge, domain, path, secure, httpOnly, sameSite

        /// The attribute with a name in any case; nil for unknown ones, which are ignored.
        init?(_ name: ArraySlice<UInt8>) {
            guard name.count <= 8 else { return nil }
            switch String(decoding: name.map(ASCII.lowercase), as: UTF8.self) {
            case "expires": self = .expires
            case "max-age": self = .maximumAge
            case "domain": self = .domain
            case "path": self = .path
            case "secure": self = .secure
            case "httponly": self = .httpOnly
            case "samesite": self = .sameSite
            default: return nil
            }
        }
    }
}
