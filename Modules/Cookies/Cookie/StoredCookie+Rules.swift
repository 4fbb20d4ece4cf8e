internal import FoundationEssentials
internal import LinnetMessages

extension StoredCookie {
    /// The longest name and value together, in octets (RFC 6265bis, section 5.6, step 5).
    static var longestPair: Int { 4096 }
    /// The longest value of an attribute, in octets (RFC 6265bis, section 5.6, attributes, step 6).
    static var longestAttribute: Int { 1024 }

    /// Checks the rules for all cookies, of servers and of the program.
    func validate() throws(CookieRefusal) {
        try Self.checkPair(nameBytes, valueBytes)
        guard !pathBytes.hasControl else { throw .control }
        guard pathBytes.count <= Self.longestAttribute else { throw .tooLong }
        let semicolon = UInt8(ascii: ";")
        guard !nameBytes.bytes.contains(semicolon), !valueBytes.bytes.contains(semicolon),
            !nameBytes.bytes.contains(UInt8(ascii: "=")),
            !nameBytes.hasOuterSpace, !valueBytes.hasOuterSpace, pathBytes.bytes.first == UInt8(ascii: "/")
        else { throw .malformed }
        let dates = [expires, creationDate, lastAccessDate].compactMap { $0?.timeIntervalSinceReferenceDate }
        guard dates.allSatisfy(\.isFinite) else { throw .malformed }
        try checkPrefixes(hasRootPath: pathBytes.bytes == [UInt8(ascii: "/")])
    }

    /// Refuses a semicolon, which no Path attribute can contain. The default path of a URL may contain one, and is then
    /// valid.
    func checkPathAttribute() throws(CookieRefusal) {
        guard !pathBytes.bytes.contains(UInt8(ascii: ";")) else { throw .malformed }
    }

    /// Checks steps 2 to 4 of RFC 6265bis, section 5.7.
    static func checkPair(_ name: CookieBytes, _ value: CookieBytes) throws(CookieRefusal) {
        guard !name.isEmpty || !value.isEmpty else { throw .empty }
        guard !name.hasControl, !value.hasControl else { throw .control }
        guard name.count + value.count <= longestPair else { throw .tooLong }
    }

    /// Checks steps 19 to 22 of RFC 6265bis, section 5.7, and the prefixes of its successor
    /// (draft-ietf-httpbis-layered-cookies, "Store a Cookie"), which reserve names for cookies that only servers can
    /// set.
    ///
    /// - Parameter hasRootPath: Whether the path is `/`, and was set by an attribute.
    func checkPrefixes(hasRootPath: Bool) throws(CookieRefusal) {
        guard sameSite != .none || isSecure else { throw .sameSiteNone }
        guard !nameBytes.begins(with: "__Secure-") || isSecure else { throw .securePrefix }
        guard !nameBytes.begins(with: "__Host-") || isSecure && isHostOnly && hasRootPath else { throw .hostPrefix }
        // A name that begins with __Host-Http- has met the requirements of __Host- already.
        let isOfServer = nameBytes.begins(with: "__Http-") || nameBytes.begins(with: "__Host-Http-")
        guard !isOfServer || isSecure && isHTTPOnly else { throw .httpPrefix }
        guard !nameBytes.isEmpty || !valueBytes.seemsPrefixed else { throw .namelessPrefix }
    }
}

extension CookieBytes {
    /// Whether a server can mistake the value of a nameless cookie for a name with a prefix. Some servers skip equals
    /// signs before a name.
    fileprivate var seemsPrefixed: Bool {
        let name = CookieBytes(bytes.drop { $0 == UInt8(ascii: "=") || ASCII.isBlank($0) })
        return name.begins(with: "__Secure-") || name.begins(with: "__Host-") || name.begins(with: "__Http-")
    }

    /// Whether there is a space or a tab at the beginning or at the end.
    fileprivate var hasOuterSpace: Bool {
        bytes.first.map(ASCII.isBlank) ?? false || bytes.last.map(ASCII.isBlank) ?? false
    }
}
