public import FoundationEssentials
internal import HTTPTypes
internal import LinnetSecurity
internal import LinnetSerialization

/// A URL taken apart into what a request's head carries (RFC 9112, section 3.2): scheme, authority and target.
///
/// The host is a name, or an address in canonical form (`HostSpelling`). The fragment is not sent, an empty path is `/`, the default
/// port is left out, and bytes that a request line must not contain are percent-encoded. User information is never sent in the authority (RFC 9110, section 4.2.4): it
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
        let (scheme, start) = try Self.scheme(bytes, url)
        var end = start
        var at: Int?
        while end < bytes.count, !bytes[end].endsAuthority {
            if bytes[end] == .at { at = end }
            end += 1
        }
        self.scheme = scheme
        authority = try Self.authority(
            Bytes(rebasing: bytes[(at.map { $0 + 1 } ?? start)..<end]), scheme: scheme, url)
        authorization = try at == nil ? nil : Self.credentials(url)
        path = Self.target(Bytes(rebasing: bytes[end...]))
    }

    /// The head of a request to this target.
    func head(of request: SessionRequest) -> HTTPRequest {
        var head = HTTPRequest(
            method: request.method, scheme: scheme, authority: authority, path: path,
            headerFields: request.headerFields)
        if let authorization, !head.headerFields.contains(.authorization) {
            head.headerFields[.authorization] = authorization
        }
        return head
    }

    private typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The scheme, and where what follows `://` begins.
    private static func scheme(_ bytes: Bytes, _ url: URL) throws(SessionError) -> (name: String, end: Int) {
        if bytes.hasPrefix("https://") { return ("https", 8) }
        if bytes.hasPrefix("http://") { return ("http", 7) }
        guard let colon = bytes.firstIndex(of: .colon), Bytes(rebasing: bytes[colon...]).hasPrefix("://") else {
            throw .invalidURL("The URL has no scheme and host.", url)
        }
        let name = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        guard name == "http" || name == "https" else {
            throw .invalidURL("The URL's scheme is neither http nor https.", url)
        }
        return (name, colon + 3)
    }

    private static func authority(_ bytes: Bytes, scheme: String, _ url: URL) throws(SessionError) -> String {
        // A colon within brackets belongs to an IPv6 address.
        var (colon, isInBrackets) = (0, false)
        while colon < bytes.count, isInBrackets || bytes[colon] != .colon {
            if bytes[colon] == .openingBracket { isInBrackets = true }
            if bytes[colon] == .closingBracket { isInBrackets = false }
            colon += 1
        }
        let host = Bytes(rebasing: bytes[..<colon])
        let isBracketed = host.first == .openingBracket && host.last == .closingBracket && host.count > 1
        let inner = isBracketed ? Bytes(rebasing: host[1..<(host.count - 1)]) : host
        guard let spelling = HostSpelling(inner, isBracketed: isBracketed) else {
            throw .invalidURL(
                "The URL's host is neither a name in ASCII (use its Punycode form) nor an address in its usual form, "
                    + "four decimal numbers or IPv6 in brackets without a zone.", url)
        }
        let digits = Bytes(rebasing: bytes[min(colon + 1, bytes.count)...])
        var port = try port(digits, url)
        if port == (scheme == "https" ? 443 : 80) { port = nil }
        guard case .address(let text) = spelling else { return lowercased(port == nil ? host : bytes) }
        return (text.utf8.contains(.colon) ? "[\(text)]" : text) + (port.map { ":\($0)" } ?? "")
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
        let bytes = Bytes(rebasing: bytes[..<(bytes.firstIndex(of: .hash) ?? bytes.endIndex)])
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
    fileprivate static let openingBracket = UInt8(ascii: "[")
    fileprivate static let closingBracket = UInt8(ascii: "]")

    fileprivate var isDigit: Bool { UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") }
    fileprivate var isUppercase: Bool { UInt8(ascii: "A") <= self && self <= UInt8(ascii: "Z") }
    fileprivate var endsAuthority: Bool { self == .slash || self == .questionMark || self == .hash }
    /// Visible ASCII but for `"<>\^`{|}`, which URLs must not hold as they are (RFC 3986, section 2).
    var isTargetByte: Bool {
        // A bit for each of them: 0 to 63, then 64 to 127.
        let (low, high): (UInt64, UInt64) = (0xAFFF_FFFA_0000_0000, 0x47FF_FFFE_AFFF_FFFF)
        if self < 64 { return (low >> UInt64(self)) & 1 == 1 }
        return self < 128 && (high >> UInt64(self - 64)) & 1 == 1
    }
    fileprivate var percentEncoded: [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(self >> 4)], digits[Int(self & 15)]]
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func hasPrefix(_ text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where self[index] != text.utf8Start[index] { return false }
        return true
    }
}

/// The scheme, host and port of a URL (RFC 6454, section 4). Credentials of one origin are never sent to another.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// `http` or `https`.
    public let scheme: String
    /// The host in lower case, and the port unless it is the scheme's own.
    public let authority: String

    /// The origin of a URL.
    ///
    /// Fails with ``SessionError/Code/invalidURL`` when the URL is not http or https with a host.
    public init(_ url: URL) throws(SessionError) {
        self.init(try WireTarget(url))
    }

    init(_ target: WireTarget) {
        scheme = target.scheme
        authority = target.authority
    }

    /// As it stands at the beginning of a URL.
    public var description: String { "\(scheme)://\(authority)" }
}
