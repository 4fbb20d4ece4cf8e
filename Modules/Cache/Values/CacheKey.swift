public import FoundationEssentials
package import HTTPTypes
package import LinnetMessages

/// The key of stored responses: the URL of a GET request in canonical form (RFC 9111, section 2).
///
/// The scheme and the host are in lower case, the default port and the fragment are left out, and an empty path is `/`.
/// User information is not part of a key. The path and the query are compared without normalization: `/a/../b` and `/b`
/// are two keys.
public struct CacheKey: Hashable, Sendable, CustomStringConvertible {
    /// The canonical URL.
    public let description: String

    /// Creates a key; nil if the URL cannot be requested over HTTP.
    public init?(_ url: URL) {
        guard let target = try? RequestTarget(parsing: url) else { return nil }
        self.init(target)
    }

    package init(_ target: RequestTarget) {
        description = target.origin.description + target.path
    }

    /// The key of a request with a scheme, an authority and a path; nil if one of them is missing or invalid.
    package init?(_ request: HTTPRequest) {
        guard let scheme = request.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let authority = request.authority,
            let origin = try? Origin(isSecure: scheme == "https", authority: authority)
        else { return nil }
        let path = request.path ?? "/"
        description = origin.description + (path.isEmpty ? "/" : path)
    }

    /// Restores a key that a store has written.
    package init(description: String) {
        self.description = description
    }

    var isSecure: Bool { description.utf8.starts(with: "https:".utf8) }

    /// The key of a reference in a response, if it has the same origin (RFC 9111, section 4.4).
    func sameOriginKey(_ reference: String) -> CacheKey? {
        let base = URIReference(description)
        var target = URIReference(reference).resolved(against: base)
        target.encodeInvalidBytes()
        guard let url = URL(string: target.text), let key = CacheKey(url) else { return nil }
        return URIReference(key.description).authority == base.authority && key.isSecure == isSecure ? key : nil
    }
}
