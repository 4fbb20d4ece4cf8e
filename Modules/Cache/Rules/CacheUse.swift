/// How a request uses the stored responses: what the cases of NSURLRequest's cache policy mean.
package enum CacheUse: Hashable, Sendable, CaseIterable {
    /// As RFC 9111 says (`useProtocolCachePolicy`).
    case protocolDefined
    /// Stored responses are not used, and the new one may be stored (`reloadIgnoringLocalCacheData`).
    case reload
    /// As ``reload``, and caches on the way must not use stored responses either
    /// (`reloadIgnoringLocalAndRemoteCacheData`).
    case reloadEverywhere
    /// A stored response is used whatever its age and its directives; the request is sent only if there is none
    /// (`returnCacheDataElseLoad`).
    case storedElseLoad
    /// As ``storedElseLoad``, but the request is never sent (`returnCacheDataDontLoad`).
    case storedOnly
    /// A stored response is used only if the server confirms it, and caches on the way must have theirs confirmed too
    /// (`reloadRevalidatingCacheData`).
    case revalidate
}
