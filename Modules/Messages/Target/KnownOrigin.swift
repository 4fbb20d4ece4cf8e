package import FoundationEssentials

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
