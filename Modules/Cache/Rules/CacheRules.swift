/// The rules of HTTP caches (RFC 9111, RFC 5861, RFC 8246) as functions of requests, stored responses and instants.
///
/// They send nothing, store nothing, and read no clock.
package struct CacheRules: Hashable, Sendable {
    /// Whether the cache serves several users, like the cache of a gateway. The default is false: a private cache.
    package var isShared: Bool

    package init(isShared: Bool = false) {
        self.isShared = isShared
    }
}
