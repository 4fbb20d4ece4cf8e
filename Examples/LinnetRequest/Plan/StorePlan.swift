import ExampleSupport
import FoundationEssentials
import Linnet
import LinnetDiskCache

/// The stores that last longer than the request.
struct StorePlan {
    /// The file of the cookies; nil for none.
    let cookies: URL?
    /// The folder of the cache; nil for none.
    let cache: URL?

    init(_ arguments: StoreArguments) throws {
        guard arguments.cookies?.isEmpty != true else { throw UsageError("--cookies \"\" is not a file.") }
        cookies = arguments.cookies.map { URL(filePath: $0) }
        cache = try arguments.cache ? Self.folder() : nil
    }

    /// Makes a jar with the cookies of the file, which need not exist.
    func makeJar() throws -> CookieJar? {
        guard let cookies else { return nil }
        let jar = CookieJar()
        let path = cookies.path(percentEncoded: false)
        // A file that cannot be read would be replaced.
        guard FileManager.default.fileExists(atPath: path) else { return jar }
        for cookie in NetscapeCookies(parsing: try InputFile.read(path)).cookies { jar.set(cookie) }
        return jar
    }

    /// Writes the cookies for their user alone.
    func save(_ jar: CookieJar?) throws {
        guard let jar, let cookies else { return }
        try SideFile.replace(cookies.absoluteURL.path(percentEncoded: false), with: NetscapeCookies(jar.all).data)
    }

    func makeCache() throws -> (any CacheStore)? {
        guard let cache else { return nil }
        return try DiskCacheStore(at: cache)
    }

    private static func folder() throws -> URL {
        guard let folder = BaseDirectories.current.path(.cache) else {
            throw UsageError("--cache needs XDG_CACHE_HOME or the home directory, and neither is known.")
        }
        return URL(filePath: folder).appending(path: "linnet/http")
    }
}
