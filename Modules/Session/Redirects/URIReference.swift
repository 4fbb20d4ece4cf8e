/// A URI reference in its components, which can be resolved against a base (RFC 3986, sections 4.1 and 5.2).
///
/// Foundation's resolution does not cover all cases of RFC 3986, which redirects require.
struct URIReference: Equatable {
    var scheme: Substring?
    var authority: Substring?
    var path: Substring
    var query: Substring?
    var fragment: Substring?

    /// Splits any text into components (appendix B), without validating or decoding them.
    init(_ text: String) {
        var rest = text[...]
        (rest, fragment) = Self.split(rest, at: "#")
        (rest, query) = Self.split(rest, at: "?")
        if let colon = rest.utf8.firstIndex(where: { ":/".utf8.contains($0) }), rest.utf8[colon] == UInt8(ascii: ":"),
            Self.isScheme(rest[..<colon])
        {
            scheme = rest[..<colon]
            rest = rest[rest.utf8.index(after: colon)...]
        }
        if rest.utf8.starts(with: "//".utf8) {
            rest = Substring(rest.utf8.dropFirst(2))
            let end = rest.utf8.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
    }

    /// Returns this reference resolved against a base that has a scheme (section 5.2.2).
    func resolved(against base: URIReference) -> URIReference {
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

    /// The reference as text (section 5.3).
    var text: String {
        var text = scheme.map { $0 + ":" } ?? ""
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return String(text)
    }

    /// The user information in the authority; nil if there is none.
    var userInfo: Substring? {
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

    /// Merges the path with that of a base (section 5.2.3).
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

    private static func split(_ text: Substring, at mark: Unicode.Scalar) -> (Substring, Substring?) {
        guard let index = text.utf8.firstIndex(of: UInt8(ascii: mark)) else { return (text, nil) }
        return (text[..<index], text[text.utf8.index(after: index)...])
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || 0x30...0x39 ~= $0 || "+-.".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        0x41...0x5A ~= byte || 0x61...0x7A ~= byte
    }
}
