internal import FoundationEssentials
internal import LinnetMessages

extension StoredCookie {
    /// The longest name and value together, in octets (RFC 6265bis, section 5.6, step 5).
    static var longestPair: Int { 4096 }
    /// The longest value of an attribute, in octets (RFC 6265bis, section 5.6, attributes, step 6).
    static var longestAttribute: Int { 1024 }

    /// Checks what holds for each cookie, whether a server or the program made it.
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

    /// A path that a server can set has no semicolon. The default path of a URL may have one, and is then a path as any other.
    func checkPathAttribute() throws(CookieRefusal) {
        guard !pathBytes.bytes.contains(UInt8(ascii: ";")) else { throw .malformed }
    }

    /// RFC 6265bis, section 5.7, steps 2 to 4.
    static func checkPair(_ name: CookieBytes, _ value: CookieBytes) throws(CookieRefusal) {
        guard !name.isEmpty || !value.isEmpty else { throw .empty }
        guard !name.hasControl, !value.hasControl else { throw .control }
        guard name.count + value.count <= longestPair else { throw .tooLong }
    }

    /// RFC 6265bis, section 5.7, steps 19 to 22.
    ///
    /// - Parameter hasRootPath: Whether the path is `/`, and was set by an attribute.
    func checkPrefixes(hasRootPath: Bool) throws(CookieRefusal) {
        guard sameSite != .none || isSecure else { throw .sameSiteNone }
        guard !nameBytes.begins(with: "__Secure-") || isSecure else { throw .securePrefix }
        guard !nameBytes.begins(with: "__Host-") || isSecure && isHostOnly && hasRootPath else { throw .hostPrefix }
        guard !nameBytes.isEmpty || !valueBytes.begins(with: "__Secure-") && !valueBytes.begins(with: "__Host-") else {
            throw .namelessPrefix
        }
    }
}

extension CookieBytes {
    /// Whether there is a space or a tab at the beginning or at the end.
    fileprivate var hasOuterSpace: Bool {
        bytes.first.map(ASCII.isBlank) ?? false || bytes.last.map(ASCII.isBlank) ?? false
    }
}
