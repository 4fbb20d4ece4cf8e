internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization

/// A URL taken apart into what a request's head carries (RFC 9112, section 3.2): scheme, authority and target.
///
/// The fragment stays at home, an empty path is `/`, the default port is left out, and bytes that may not stand in a
/// request line are percent-encoded. User information is never sent in the authority (RFC 9110, section 4.2.4): it
/// becomes Basic credentials, unless the request has an Authorization field.
struct WireTarget: Hashable {
    let scheme: String
    let authority: String
    let path: String
    let authorization: String?

    init(_ url: URL) throws(SessionError) {
        try self.init(url.absoluteString, url)
    }

    private init(_ text: String, _ url: URL) throws(SessionError) {
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: .colon), bytes[colon...].starts(with: "://".utf8) else {
            throw .invalidURL("The URL has no scheme and host.", url)
        }
        scheme = text[..<colon].lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw .invalidURL("The URL's scheme is neither http nor https.", url)
        }
        let rest = text[bytes.index(colon, offsetBy: 3)...]
        let end = rest.utf8.firstIndex { $0 == .slash || $0 == .questionMark || $0 == .hash } ?? rest.endIndex
        let authority = rest[..<end]
        let at = authority.utf8.lastIndex(of: .at)
        self.authority = try Self.authority(
            at.map { authority[authority.utf8.index(after: $0)...] } ?? authority, scheme: scheme, url)
        authorization = try at == nil ? nil : Self.credentials(url)
        path = Self.target(rest[end...])
    }

    /// The head of a request to this target.
    func head(of request: Request) -> HTTPRequest {
        var head = HTTPRequest(
            method: request.method, scheme: scheme, authority: authority, path: path,
            headerFields: request.headerFields)
        if let authorization, !head.headerFields.contains(.authorization) {
            head.headerFields[.authorization] = authorization
        }
        return head
    }

    private static func authority(
        _ text: Substring, scheme: String, _ url: URL
    ) throws(SessionError) -> String {
        let bracket = text.utf8.lastIndex(of: .closingBracket) ?? text.startIndex
        let colon = text[bracket...].utf8.firstIndex(of: .colon)
        let host = text[..<(colon ?? text.endIndex)]
        guard !host.isEmpty, host.utf8.allSatisfy(\.isHostByte) else {
            throw .invalidURL("The URL's host is missing, or is not ASCII (use its Punycode form).", url)
        }
        guard let colon, text.utf8.index(after: colon) < text.endIndex else { return lowercased(host) }
        let digits = text[text.utf8.index(after: colon)...]
        guard let port = UInt16(digits), port > 0, digits.utf8.allSatisfy(\.isDigit) else {
            throw .invalidURL("The URL's port is not a number from 1 to 65535.", url)
        }
        let isDefault = port == (scheme == "https" ? 443 : 80)
        return isDefault ? lowercased(host) : lowercased(host) + ":" + digits
    }

    private static func lowercased(_ host: Substring) -> String {
        host.utf8.contains(where: \.isUppercase) ? host.lowercased() : String(host)
    }

    private static func credentials(_ url: URL) throws(SessionError) -> String? {
        let user = url.user(percentEncoded: false) ?? ""
        let password = url.password(percentEncoded: false) ?? ""
        guard !user.isEmpty || !password.isEmpty else { return nil }
        guard !user.utf8.contains(.colon) else {
            throw .invalidURL("The URL's user name holds a colon, which Basic authentication has no room for.", url)
        }
        return HTTPFields.basicAuthorization(username: user, password: password)
    }

    private static func target(_ text: Substring) -> String {
        let text = text.prefix { $0 != "#" }
        guard !text.isEmpty else { return "/" }
        let path = text.utf8.first == .slash ? String(text) : "/" + text
        guard !path.utf8.allSatisfy(\.isTargetByte) else { return path }
        var encoded: [UInt8] = []
        for byte in path.utf8 {
            if byte.isTargetByte { encoded.append(byte) } else { encoded.append(contentsOf: byte.percentEncoded) }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate static let colon = UInt8(ascii: ":")
    fileprivate static let slash = UInt8(ascii: "/")
    fileprivate static let questionMark = UInt8(ascii: "?")
    fileprivate static let hash = UInt8(ascii: "#")
    fileprivate static let at = UInt8(ascii: "@")
    fileprivate static let closingBracket = UInt8(ascii: "]")

    fileprivate var isDigit: Bool { UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") }
    fileprivate var isUppercase: Bool { UInt8(ascii: "A") <= self && self <= UInt8(ascii: "Z") }
    /// Visible ASCII but for what URLs must not hold as it is (RFC 3986, section 2).
    fileprivate var isTargetByte: Bool {
        guard self > 0x20, self < 0x7F else { return false }
        switch self {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            return false
        default: return true
        }
    }
    fileprivate var isHostByte: Bool { isTargetByte && self != UInt8(ascii: "%") && self != .at }
    fileprivate var percentEncoded: [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(self >> 4)], digits[Int(self & 15)]]
    }
}
