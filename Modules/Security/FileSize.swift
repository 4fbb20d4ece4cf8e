#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// How many bytes a file has.
///
/// By `stat`: what FoundationEssentials puts into a file's attributes is of another type than what Foundation puts there,
/// and which of the two a process has depends on what else it links.
enum FileSize {
    /// Nil for what is no regular file; links are followed.
    static func ofRegularFile(_ path: String) -> Int? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }
}
