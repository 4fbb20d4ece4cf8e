internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetSession

/// The directories of a persistent configuration (XDG Base Directory Specification).
struct PersistentPlaces: Equatable {
    let cache: URL
    let data: URL

    var responses: URL { cache.appending(path: "http", directoryHint: .isDirectory) }
    var cookies: URL { data.appending(path: "cookies.json", directoryHint: .notDirectory) }

    init(named name: String, in directories: BaseDirectories = .current) throws(SessionError) {
        guard BaseDirectories.isName(name) else {
            throw SessionError(
                .invalidConfiguration,
                "\"\(name)\" cannot be the name of a directory: use 1 to 255 bytes without separators, not beginning with a "
                    + "full stop.")
        }
        func place(_ kind: BaseDirectories.Kind) throws(SessionError) -> URL {
            guard let base = directories.path(kind) else {
                throw SessionError(
                    .invalidConfiguration,
                    "The home directory is unknown: set HOME or \(kind.variable) to an absolute path.")
            }
            return URL(filePath: base).appending(path: name)
        }
        cache = try place(.cache)
        data = try place(.data)
    }
}
