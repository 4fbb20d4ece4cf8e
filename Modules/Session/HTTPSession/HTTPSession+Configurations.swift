internal import LinnetCache
internal import LinnetCookies

extension HTTPSession.Configuration {
    /// A configuration that stores nothing: neither cookies nor responses. It is right for a program that acts for many people,
    /// such as a server.
    ///
    /// The same as ``init()``.
    public static var `default`: HTTPSession.Configuration { HTTPSession.Configuration() }

    /// A configuration that stores cookies and responses in memory: an empty jar, and an empty cache of 4 MiB. Nothing is written
    /// to a disk, and all is gone when the sessions with the configuration are.
    ///
    /// Each use makes a new jar and a new cache. It is for one user; `persistent(named:)` of LinnetDiskCache also keeps what is
    /// stored.
    public static var ephemeral: HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration()
        configuration.cookieJar = CookieJar()
        configuration.cacheStore = MemoryCacheStore()
        return configuration
    }
}
