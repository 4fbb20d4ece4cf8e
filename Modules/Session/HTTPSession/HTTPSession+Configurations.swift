internal import LinnetCache
internal import LinnetCookies

extension HTTPSession.Configuration {
    /// A configuration that stores nothing: neither cookies nor responses. Use it for a program that acts for many
    /// people, for example a server.
    ///
    /// The same as ``init()``.
    public static var `default`: HTTPSession.Configuration { HTTPSession.Configuration() }

    /// A configuration that stores cookies and responses in memory: an empty jar, and an empty cache of 4 MiB. Nothing
    /// is written to disk. The contents live as long as the sessions with the configuration.
    ///
    /// Each use creates a new jar and a new cache. They are for one user; `persistent(named:)` of LinnetDiskCache
    /// stores them on disk.
    public static var ephemeral: HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration()
        configuration.cookieJar = CookieJar()
        configuration.cacheStore = MemoryCacheStore()
        return configuration
    }
}
