/// The permitted use of stored responses, with the meanings of NSURLRequest's cache policies.
package enum CacheUse: Hashable, Sendable, CaseIterable {
    /// The rules of RFC 9111 (`useProtocolCachePolicy`).
    case protocolDefined
    /// Stored responses are not used, and the new one may be stored (`reloadIgnoringLocalCacheData`).
    case reload
    /// Stored responses are not used, here or by caches on the way; the new response may be stored
    /// (`reloadIgnoringLocalAndRemoteCacheData`).
    case reloadEverywhere
    /// A stored response is used whatever its age and its directives; the request is sent only if there is none
    /// (`returnCacheDataElseLoad`).
    case storedElseLoad
    /// A stored response is used as with ``storedElseLoad``, but the request is never sent (`returnCacheDataDontLoad`).
    case storedOnly
    /// A stored response is used only if the server confirms it. Caches on the way must ask the server too
    /// (`reloadRevalidatingCacheData`).
    case revalidate
}
