internal import FoundationEssentials
internal import LinnetMessages

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Reads whole files.
enum FileBytes {
    /// - Throws: ``SecurityError/Code/cannotReadFile``.
    static func read(_ path: String) throws(SecurityError) -> Data {
        do {
            // Foundation leaks its buffer when it reads an empty file.
            return FileSize.ofRegularFile(path) == 0 ? Data() : try Data(contentsOf: URL(filePath: path))
        } catch {
            let exists = FileManager.default.fileExists(atPath: path)
            let reason = exists ? "it is not a file, or permission is denied" : "it does not exist"
            throw SecurityError(.cannotReadFile, "\"\(path.oneLine)\" cannot be read: \(reason).")
        }
    }

    /// Adds the path of the file to the errors of a function that reads its content.
    static func naming<Result>(
        _ path: String, _ read: () throws(SecurityError) -> Result
    ) throws(SecurityError) -> Result {
        do {
            return try read()
        } catch {
            var error = error
            error.message = "\"\(path.oneLine)\": \(error.message)"
            throw error
        }
    }
}

/// The size of a file.
///
/// Read with `stat`: the type of a file's size attribute differs between FoundationEssentials and Foundation, and which
/// of the two a process uses depends on what else it links.
enum FileSize {
    /// The size in bytes, or nil if the path is not a regular file. Links are followed.
    static func ofRegularFile(_ path: String) -> Int? {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        return Int(status.st_size)
    }
}
