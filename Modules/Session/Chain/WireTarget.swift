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
        // On bytes, since every request comes through here and Characters cost several times as much.
        var text = url.absoluteString
        let parsed = text.withUTF8 { bytes in
            Result { () throws(SessionError) in try WireTarget(bytes, of: url) }
        }
        self = try parsed.get()
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>, of url: URL) throws(SessionError) {
        guard let colon = bytes.firstIndex(of: .colon), bytes[colon...].starts(with: [.colon, .slash, .slash]) else {
            throw .invalidURL("The URL has no scheme and host.", url)
        }
        scheme = try Self.scheme(bytes[..<colon], url)
        let rest = bytes[(colon + 3)...]
        let end = rest.firstIndex { $0 == .slash || $0 == .questionMark || $0 == .hash } ?? rest.endIndex
        let at = rest[..<end].lastIndex(of: .at)
        authority = try Self.authority(rest[(at.map { $0 + 1 } ?? rest.startIndex)..<end], scheme: scheme, url)
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

    private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

    private static func scheme(_ bytes: Bytes, _ url: URL) throws(SessionError) -> String {
        if bytes.elementsEqual("https".utf8) { return "https" }
        if bytes.elementsEqual("http".utf8) { return "http" }
        let scheme = String(decoding: bytes, as: UTF8.self).lowercased()
        guard scheme == "http" || scheme == "https" else {
            throw .invalidURL("The URL's scheme is neither http nor https.", url)
        }
        return scheme
    }

    private static func authority(_ bytes: Bytes, scheme: String, _ url: URL) throws(SessionError) -> String {
        let bracket = bytes.lastIndex(of: .closingBracket) ?? bytes.startIndex
        let colon = bytes[bracket...].firstIndex(of: .colon) ?? bytes.endIndex
        let host = bytes[..<colon]
        guard !host.isEmpty, host.allSatisfy(\.isHostByte) else {
            throw .invalidURL("The URL's host is missing, or is not ASCII (use its Punycode form).", url)
        }
        let digits = bytes[colon...].dropFirst()
        guard let port = try port(digits, url), port != (scheme == "https" ? 443 : 80) else { return lowercased(host) }
        return lowercased(bytes)
    }

    /// The port; nil where the URL names none.
    private static func port(_ digits: Bytes, _ url: URL) throws(SessionError) -> Int? {
        guard !digits.isEmpty else { return nil }
        var port = 0
        for digit in digits where port <= 65535 { port = digit.isDigit ? port * 10 + Int(digit - 0x30) : 65536 }
        guard 1...65535 ~= port else {
            throw .invalidURL("The URL's port is not a number from 1 to 65535.", url)
        }
        return port
    }

    private static func lowercased(_ bytes: Bytes) -> String {
        let text = String(decoding: bytes, as: UTF8.self)
        return bytes.contains(where: \.isUppercase) ? text.lowercased() : text
    }

    private static func credentials(_ url: URL) throws(SessionError) -> String? {
        let user = url.user(percentEncoded: false) ?? ""
        let password = url.password(percentEncoded: false) ?? ""
        guard !user.isEmpty || !password.isEmpty else { return nil }
        guard !user.utf8.contains(UInt8.colon) else {
            throw .invalidURL("The URL's user name holds a colon, which Basic authentication has no room for.", url)
        }
        return HTTPFields.basicAuthorization(username: user, password: password)
    }

    private static func target(_ bytes: Bytes) -> String {
        let bytes = bytes.prefix { $0 != .hash }
        guard let first = bytes.first else { return "/" }
        if first == .slash, bytes.allSatisfy(\.isTargetByte) { return String(decoding: bytes, as: UTF8.self) }
        var encoded: [UInt8] = first == .slash ? [] : [.slash]
        for byte in bytes {
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
