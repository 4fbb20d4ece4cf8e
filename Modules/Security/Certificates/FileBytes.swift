internal import FoundationEssentials

/// A whole file.
enum FileBytes {
    /// Fails with ``SecurityError/Code/cannotReadFile``.
    static func read(_ path: String) throws(SecurityError) -> Data {
        do {
            // Foundation leaks its buffer when it reads an empty file.
            return FileSize.ofRegularFile(path) == 0 ? Data() : try Data(contentsOf: URL(filePath: path))
        } catch {
            let exists = FileManager.default.fileExists(atPath: path)
            let reason = exists ? "it is no file, or there is no permission" : "it does not exist"
            throw SecurityError(.cannotReadFile, "\"\(path.oneLine)\" cannot be read: \(reason).")
        }
    }
}
