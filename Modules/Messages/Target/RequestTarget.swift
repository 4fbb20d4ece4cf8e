package import FoundationEssentials

/// A URL in the parts that a request's head carries (RFC 9112, section 3.2): the origin and the target.
///
/// The fragment is not sent, an empty path is `/`, and bytes that a request line must not contain are percent-encoded.
/// User information is never sent in the authority (RFC 9110, section 4.2.4).
package struct RequestTarget: Hashable, Sendable {
    package let origin: Origin
    /// The path and the query in the form that is sent.
    package let path: String
    /// The user information, decoded; nil if the name and the password are empty.
    package let userInfo: UserInfo?

    package struct UserInfo: Hashable, Sendable {
        /// The user name, without a colon.
        package let user: String
        package let password: String
    }

    /// - Parameter known: The usual origin of URLs, which is not parsed again; nil for none.
    package init(parsing url: URL, expecting known: KnownOrigin? = nil) throws(URLFault) {
        try self.init(parsing: url.absoluteString, expecting: known)
    }

    package init(parsing text: String, expecting known: KnownOrigin? = nil) throws(URLFault) {
        // Works on bytes, because every request passes here, and Characters cost several times as much.
        var text = text
        let parsed = text.withUTF8 { bytes in
            Result { () throws(URLFault) in
                guard let known, let rest = known.rest(of: bytes) else { return try RequestTarget(bytes) }
                return RequestTarget(known.origin, bytes[rest])
            }
        }
        self = try parsed.get()
    }

    private init(_ origin: Origin, _ rest: Slice<UnsafeBufferPointer<UInt8>>) {
        self.origin = origin
        userInfo = nil
        path = Self.target(rest[..<(rest.firstIndex(of: .hash) ?? rest.endIndex)])
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) throws(URLFault) {
        let uri = URIRanges(bytes)
        guard let scheme = uri.scheme, let authority = uri.authority else { throw .noHost }
        let parts = AuthorityRanges(bytes, in: authority)
        origin = try Origin(isSecure: Self.isSecure(bytes[scheme]), parts, of: bytes)
        userInfo = try parts.userInfo.flatMap { range throws(URLFault) in try Self.decoded(bytes[range]) }
        path = Self.target(bytes[uri.path.lowerBound..<(uri.query ?? uri.path).upperBound])
    }

    /// The path without the query.
    package var pathAlone: Substring { path.utf8.firstIndex(of: .questionMark).map { path[..<$0] } ?? path[...] }

    private static func isSecure(_ scheme: Slice<UnsafeBufferPointer<UInt8>>) throws(URLFault) -> Bool {
        let scheme = UnsafeBufferPointer(rebasing: scheme)
        // Setting the bit 0x20 makes letters lowercase, and turns no other byte of a scheme into a letter.
        guard 4...5 ~= scheme.count, scheme[0] | 0x20 == UInt8(ascii: "h"), scheme[1] | 0x20 == UInt8(ascii: "t"),
            scheme[2] | 0x20 == UInt8(ascii: "t"), scheme[3] | 0x20 == UInt8(ascii: "p"),
            scheme.count == 4 || scheme[4] | 0x20 == UInt8(ascii: "s")
        else { throw .scheme }
        return scheme.count == 5
    }

    /// Decodes user information. Other parsers end the authority at a backslash or omit control characters (WHATWG URL,
    /// 4.4), and so see another host than the one that would get the credentials. Foundation's URLs have them
    /// percent-encoded.
    private static func decoded(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) throws(URLFault) -> UserInfo? {
        guard !bytes.contains(.at) else { throw .userInfo }
        let colon = bytes.firstIndex(of: .colon) ?? bytes.endIndex
        guard let user = bytes[..<colon].percentDecoded, let password = bytes[colon...].dropFirst().percentDecoded,
            !user.utf8.contains(.colon),
            !(user.utf8.contains(where: \.isAmbiguous) || password.utf8.contains(where: \.isAmbiguous))
        else { throw .userInfo }
        return user.isEmpty && password.isEmpty ? nil : UserInfo(user: user, password: password)
    }

    private static func target(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        guard let first = bytes.first else { return "/" }
        if first == .slash, bytes.allSatisfy(\.isTargetByte) { return String(decoding: bytes, as: UTF8.self) }
        return (first == .slash ? "" : "/") + PercentCoding.encoded(bytes, keeping: \.isTargetByte)
    }
}

extension UInt8 {
    /// A backslash or a control character, which other parsers do not take for user information.
    var isAmbiguous: Bool { self == UInt8(ascii: "\\") || self < 0x20 || self == 0x7F }

    /// Whether the byte ends an authority (RFC 3986, section 3.2).
    var endsAuthority: Bool { self == .slash || self == .questionMark || self == .hash }

    /// Visible ASCII except for `"<>\^`{|}`, which URLs must not contain unescaped (RFC 3986, section 2).
    package var isTargetByte: Bool {
        // One bit for each byte: 0 to 63, then 64 to 127.
        ASCII.isIn(self, low: 0xAFFF_FFFA_0000_0000, high: 0x47FF_FFFE_AFFF_FFFF)
    }
}

extension Slice<UnsafeBufferPointer<UInt8>> {
    /// The text with its percent-encoded bytes decoded; nil if it is not UTF-8. A `%` without two digits stands for
    /// itself.
    fileprivate var percentDecoded: String? {
        String(validating: PercentCoding.decoded(self), as: UTF8.self)
    }
}

/// An origin with its spelling at the beginning of URLs. A URL that begins with it does not need to have its origin
/// parsed.
package struct KnownOrigin: Sendable {
    package let origin: Origin
    /// The scheme and the authority in their original spelling.
    private let prefix: [UInt8]

    /// The origin of a URL; nil if it cannot be requested or has user information.
    package init?(_ url: URL) {
        let bytes = Array(url.absoluteString.utf8)
        let authority = bytes.withUnsafeBufferPointer { URIRanges($0).authority }
        guard let authority, let target = try? RequestTarget(parsing: url),
            !bytes[authority].contains(UInt8(ascii: "@"))
        else { return nil }
        origin = target.origin
        prefix = Array(bytes[..<authority.upperBound])
    }

    /// The rest of a URL after the authority; nil if the URL does not begin with this origin, spelled in the same way.
    func rest(of url: UnsafeBufferPointer<UInt8>) -> Range<Int>? {
        guard url.count >= prefix.count else { return nil }
        for (index, byte) in prefix.enumerated() where url[index] != byte { return nil }
        // The authority ends here (RFC 3986, 3.2).
        guard url.count == prefix.count || url[prefix.count].endsAuthority else { return nil }
        return prefix.count..<url.count
    }
}
