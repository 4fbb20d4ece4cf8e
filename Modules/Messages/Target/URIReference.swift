/// A URI reference in its components, which can be resolved against a base (RFC 3986, sections 4.1 and 5.2).
///
/// Foundation's resolution does not cover all cases of RFC 3986, which redirects require.
package struct URIReference: Equatable {
    package var scheme: Substring?
    package var authority: Substring?
    package var path: Substring
    package var query: Substring?
    package var fragment: Substring?

    /// Splits any text into components (appendix B), without validating or decoding them.
    package init(_ text: String) {
        var text = text
        let ranges = text.withUTF8 { URIRanges($0) }
        let utf8 = text.utf8
        func part(_ range: Range<Int>) -> Substring {
            let start = utf8.index(utf8.startIndex, offsetBy: range.lowerBound)
            return text[start..<utf8.index(start, offsetBy: range.count)]
        }
        scheme = ranges.scheme.map(part)
        authority = ranges.authority.map(part)
        path = part(ranges.path)
        query = ranges.query.map(part)
        fragment = ranges.fragment.map(part)
    }

    /// Returns this reference resolved against a base that has a scheme (section 5.2.2).
    package func resolved(against base: URIReference) -> URIReference {
        var target = self
        if scheme != nil {
            target.path = Self.removingDotSegments(path)
            return target
        }
        target.scheme = base.scheme
        guard authority == nil else {
            target.path = Self.removingDotSegments(path)
            return target
        }
        target.authority = base.authority
        if path.isEmpty {
            target.path = base.path
            target.query = query ?? base.query
        } else {
            target.path = Self.removingDotSegments(path.utf8.first == UInt8(ascii: "/") ? path : merged(with: base))
        }
        return target
    }

    /// The reference as text (section 5.3), which parses into the same components.
    package var text: String {
        var text = scheme.map { $0 + ":" } ?? ""
        if let authority {
            text += "//" + authority
        } else if path.utf8.starts(with: "//".utf8) {
            // Otherwise the path would be read as an authority.
            text += "/."
        }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return String(text)
    }

    /// The user information in the authority; nil if there is none.
    package var userInfo: Substring? {
        get {
            guard let authority, let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) else { return nil }
            return authority[..<at]
        }
        set {
            guard let authority else { return }
            let at = authority.utf8.lastIndex(of: UInt8(ascii: "@"))
            let host = at.map { authority[authority.utf8.index(after: $0)...] } ?? authority
            self.authority = newValue.map { $0 + "@" + host } ?? host
        }
    }

    /// Whether other parsers of URLs may take the user information for a host: it has an unescaped `@`, backslash or
    /// control character.
    package var hasAmbiguousUserInfo: Bool {
        userInfo?.utf8.contains { $0 == .at || $0.isAmbiguous } ?? false
    }

    /// Percent-encodes the bytes that a path, a query or a fragment must not contain, and a `%` without two digits.
    /// Foundation would also encode each other `%` of such a component.
    package mutating func encodeInvalidBytes() {
        path = Self.encoded(path)
        query = query.map(Self.encoded)
        fragment = fragment.map(Self.encoded)
    }

    private static func encoded(_ part: Substring) -> Substring {
        let bytes = Array(part.utf8)
        var encoded: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            let digits = bytes[(index + 1)...].prefix(2).compactMap { ASCII.hexadecimalValue($0) }
            let isValid =
                byte == UInt8(ascii: "%") ? digits.count == 2 : byte.isTargetByte && !"[]#".utf8.contains(byte)
            encoded +=
                isValid
                ? [byte] : [UInt8(ascii: "%"), ASCII.hexadecimalDigit(byte >> 4), ASCII.hexadecimalDigit(byte & 15)]
        }
        return encoded.count == bytes.count ? part : Substring(decoding: encoded, as: UTF8.self)
    }

    /// Merges the path with the path of a base (section 5.2.3).
    private func merged(with base: URIReference) -> Substring {
        if base.authority != nil, base.path.isEmpty { return "/" + path }
        guard let slash = base.path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
        return base.path[...slash] + path
    }

    /// Removes the dot segments of a path (section 5.2.4).
    static func removingDotSegments(_ path: Substring) -> Substring {
        var output: [Substring] = []
        // Compares bytes, because a slash followed by a combining mark is a different Character.
        var segments = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map(
            Substring.init)
        let isAbsolute = path.utf8.first == UInt8(ascii: "/")
        if isAbsolute { segments.removeFirst() }
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".":
                if isLast { output.append("") }
            case "..":
                _ = output.popLast()
                if isLast { output.append("") }
            default:
                output.append(segment)
            }
        }
        return Substring((isAbsolute ? "/" : "") + output.joined(separator: "/"))
    }
}
