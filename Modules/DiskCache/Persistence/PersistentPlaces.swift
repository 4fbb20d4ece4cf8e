internal import FoundationEssentials
internal import LinnetSession

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The directories of a persistent configuration (XDG Base Directory Specification).
struct PersistentPlaces: Equatable {
    let cache: URL
    let data: URL

    var responses: URL { cache.appending(path: "http", directoryHint: .isDirectory) }
    var cookies: URL { data.appending(path: "cookies.json", directoryHint: .notDirectory) }

    /// - Parameters:
    ///   - name: The name of the directories.
    ///   - environment: The variables of the process.
    ///   - home: The home directory if `HOME` is not set.
    init(
        named name: String, environment: [String: String] = ProcessInfo.processInfo.environment,
        home: String? = PersistentPlaces.homeInTheListOfUsers
    ) throws(SessionError) {
        guard Self.isName(name) else {
            throw SessionError(
                .invalidConfiguration,
                "\"\(name)\" cannot be the name of a directory: use 1 to 255 bytes without separators, not beginning with a "
                    + "full stop.")
        }
        let home = Self.absolute(environment["HOME"]) ?? home
        func place(_ variable: String, _ usual: String) throws(SessionError) -> URL {
            if let base = Self.absolute(environment[variable]) { return URL(filePath: base).appending(path: name) }
            guard let home else {
                throw SessionError(
                    .invalidConfiguration, "The home directory is unknown: set HOME or \(variable) to an absolute path."
                )
            }
            return URL(filePath: home).appending(path: usual).appending(path: name)
        }
        cache = try place("XDG_CACHE_HOME", ".cache")
        data = try place("XDG_DATA_HOME", ".local/share")
    }

    private static func isName(_ name: String) -> Bool {
        1...255 ~= name.utf8.count && !name.hasPrefix(".")
            && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0 < 0x20 || $0 == 0x7F }
    }

    /// Returns nil for relative paths, which the specification ignores.
    private static func absolute(_ path: String?) -> String? {
        path.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    static var homeInTheListOfUsers: String? {
        var text = [CChar](repeating: 0, count: 16 << 10)
        return text.withUnsafeMutableBufferPointer { text in
            var (user, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
            // The fields of the entry point into the text, so it must stay alive here.
            guard let start = text.baseAddress,
                getpwuid_r(geteuid(), &user, start, text.count, &found) == 0, found != nil, let home = user.pw_dir
            else { return nil }
            return absolute(String(cString: home))
        }
    }
}
