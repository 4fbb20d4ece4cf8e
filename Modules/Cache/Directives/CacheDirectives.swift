package import HTTPTypes
internal import LinnetMessages

/// The cache directives of a request or a response (RFC 9111, section 5.2; RFC 5861; RFC 8246).
///
/// A directive that restricts the cache counts in any form, one that permits something only in its exact form. If a
/// directive with a number is repeated, the first one counts; an invalid number is the most restrictive one (section
/// 4.2.1).
package struct CacheDirectives: Hashable, Sendable {
    /// The scope of a directive with an optional list of field names.
    package enum Scope: Hashable, Sendable {
        /// The whole response.
        case response
        /// The fields with these names, in lower case.
        case fields(Set<String>)
    }

    /// An unknown directive.
    package struct Extension: Hashable, Sendable {
        /// The name in lower case.
        package let name: String
        /// The argument without quotes; nil if there is none, or if it is malformed.
        package let argument: String?
    }

    /// `max-age`, in seconds; 0 if it is invalid (sections 5.2.1.1 and 5.2.2.1).
    package private(set) var maxAge: Int64?
    /// `s-maxage`, in seconds; 0 if it is invalid (section 5.2.2.10).
    package private(set) var sharedMaxAge: Int64?
    /// `min-fresh`, in seconds; 2³¹ if it is invalid (section 5.2.1.3).
    package private(set) var minFresh: Int64?
    /// `max-stale`, in seconds; `Int64.max` without an argument, 0 if it is invalid (section 5.2.1.2).
    package private(set) var maxStale: Int64?
    /// `stale-while-revalidate`, in seconds; 0 if it is invalid (RFC 5861, section 3).
    package private(set) var staleWhileRevalidate: Int64?
    /// `stale-if-error`, in seconds; 0 if it is invalid (RFC 5861, section 4).
    package private(set) var staleIfError: Int64?
    /// `no-cache` (sections 5.2.1.4 and 5.2.2.4).
    package private(set) var noCache: Scope?
    /// `private` (section 5.2.2.7).
    package private(set) var isPrivate: Scope?
    /// `public` (section 5.2.2.9).
    package private(set) var isPublic = false
    /// `no-store` (sections 5.2.1.5 and 5.2.2.5).
    package private(set) var noStore = false
    /// `only-if-cached` (section 5.2.1.7).
    package private(set) var onlyIfCached = false
    /// `must-revalidate` (section 5.2.2.2).
    package private(set) var mustRevalidate = false
    /// `proxy-revalidate` (section 5.2.2.8).
    package private(set) var proxyRevalidate = false
    /// `must-understand` (section 5.2.2.3).
    package private(set) var mustUnderstand = false
    /// `immutable` (RFC 8246, section 2).
    package private(set) var isImmutable = false
    /// All other directives, in order. They have no effect (section 5.2.3).
    package private(set) var extensions: [Extension] = []

    /// Whether the response must not be stored. If its status is understood, must-understand overrides no-store
    /// (section 5.2.2.3).
    var forbidStoring: Bool { noStore && !mustUnderstand }

    /// Parses the Cache-Control fields of a response.
    package init(response fields: HTTPFields) {
        for field in fields where field.name == .cacheControl { read(field.value) }
    }

    /// Parses the Cache-Control fields of a request. Without one, `Pragma: no-cache` is `no-cache` (section 5.4).
    package init(request fields: HTTPFields) {
        let values = fields[values: .cacheControl]
        for value in values { read(value) }
        if values.isEmpty, fields[values: .pragma].contains(where: Self.isNoCache) { noCache = .response }
    }

    /// Whether the value contains `no-cache`. Other directives of Pragma have no meaning for caches.
    private static func isNoCache(_ pragma: String) -> Bool {
        var scanner = DirectiveScanner(pragma)
        while let directive = scanner.next() {
            if directive.name == "no-cache" { return true }
        }
        return false
    }

    /// Reads the directives of a field. A quoted string without a closing quote ends with its field.
    private mutating func read(_ value: String) {
        // The usual value of responses that are not stored. A comparison spares them the scanner.
        if value == "no-store" {
            noStore = true
            return
        }
        var scanner = DirectiveScanner(value)
        while let directive = scanner.next() { read(directive) }
    }

    private mutating func read(_ directive: DirectiveScanner.Directive) {
        let hasArgument = directive.argument != .absent
        switch directive.name {
        case "max-age": maxAge = maxAge ?? directive.seconds ?? 0
        case "s-maxage": sharedMaxAge = sharedMaxAge ?? directive.seconds ?? 0
        case "min-fresh": minFresh = minFresh ?? directive.seconds ?? DeltaSeconds.limit
        case "max-stale": maxStale = maxStale ?? (hasArgument ? directive.seconds ?? 0 : .max)
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? directive.seconds ?? 0
        case "stale-if-error": staleIfError = staleIfError ?? directive.seconds ?? 0
        case "no-cache": Self.add(directive.scope, to: &noCache)
        case "private": Self.add(directive.scope, to: &isPrivate)
        case "no-store": noStore = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "only-if-cached": onlyIfCached = true
        case "public": isPublic = isPublic || !hasArgument
        case "must-understand": mustUnderstand = mustUnderstand || !hasArgument
        case "immutable": isImmutable = isImmutable || !hasArgument
        default: extensions.append(Extension(name: directive.name, argument: directive.text))
        }
    }

    /// Combines the scopes of repeated directives. The whole response is the wider scope, and field names add up.
    private static func add(_ scope: Scope, to other: inout Scope?) {
        guard case .fields(var known)? = other, case .fields(let names) = scope else {
            if other != .response { other = scope }
            return
        }
        // Releasing the other reference first keeps the set from being copied.
        other = nil
        known.formUnion(names)
        other = .fields(known)
    }
}

extension HTTPField.Name {
    // The name is valid, so the default is never used.
    static let pragma = HTTPField.Name(parsed: "pragma") ?? .cacheControl
}
