internal import FoundationEssentials
internal import LinnetCache
internal import LinnetCookies
public import LinnetSession

extension HTTPSession.Configuration {
    /// A configuration that stores cookies and responses on disk, for an app with one user.
    ///
    /// ```swift
    /// let api = try HTTPSession(configuration: .persistent(named: "example"))
    /// ```
    /// | what | where | how much |
    /// |---|---|---|
    /// | responses | `$XDG_CACHE_HOME/NAME/http`, by default `~/.cache/NAME/http` | 20 MiB, the last 4 MiB also in memory; see ``DiskCacheStore`` |
    /// | cookies with an expiration | `$XDG_DATA_HOME/NAME/cookies.json`, by default `~/.local/share/NAME/cookies.json` | 3,000, see `CookieJar` |
    ///
    /// Relative paths in the variables are ignored. Missing directories are created with the permissions 0700. Session
    /// cookies stay in memory. This call reads the cookies and blocks; they are saved whenever they change and when a
    /// session shuts down. Several processes, and several configurations, can use the same name at once. A damaged file
    /// of cookies is renamed, and an empty one is created.
    ///
    /// The jar is saved while the configuration, a copy of it, or a session with it exists. A jar that outlives them is
    /// no longer saved: call `save(to:)` then.
    ///
    /// Credentials of requests, responses that depend on them, and TLS sessions are not stored on disk. URLs with their
    /// queries are.
    ///
    /// - Parameter name: The name of the program: 1 to 255 bytes without separators, not beginning with a full stop.
    /// - Throws: `SessionError.Code.invalidConfiguration` if the name is invalid, the home directory is unknown, others
    ///   could have written a directory, or the cookies cannot be read.
    public static func persistent(named name: String) throws(SessionError) -> HTTPSession.Configuration {
        try persistent(in: PersistentPlaces(named: name))
    }

    static func persistent(in places: PersistentPlaces) throws(SessionError) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration()
        do {
            configuration.cacheStore = try .tiered(at: places.responses)
            try CacheFolder.prepare(places.data.path)
            let saver = CookieSaver(try jar(in: places.cookies), to: places.cookies)
            configuration.cookieJar = saver.jar
            configuration.cookieSaver = saver
        } catch {
            throw SessionError(
                .invalidConfiguration, "The persistent configuration cannot be used: \(SessionError.cause(error))",
                underlying: error)
        }
        return configuration
    }

    private static func jar(in file: URL) throws(CookieError) -> CookieJar {
        do throws(CookieError) {
            return try CookieJar(contentsOf: file)
        } catch {
            // The damaged file was renamed, so nothing is lost and an empty jar can take its place.
            guard error.code == .corruptFile, error.setAsidePath != nil else { throw error }
            return try CookieJar(contentsOf: file)
        }
    }
}
