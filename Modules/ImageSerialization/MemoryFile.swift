internal import CGdkPixbuf
internal import FoundationEssentials
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif

/// A file in memory, for functions that only read files.
enum MemoryFile {
    /// Calls `body` with the path of a file of the pieces, which exists for the duration of the call.
    ///
    /// - Returns: nil without a call if the system has no descriptor, memory or /proc for the file.
    static func with<Result>(_ pieces: [Data], _ body: (_ path: String) -> Result) -> Result? {
        let descriptor = linnet_memory_file("image", LINNET_MEMORY_FILE_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let path = "/proc/self/fd/\(descriptor)"
        guard pieces.allSatisfy({ fill(descriptor, $0) }), access(path, R_OK) == 0 else { return nil }
        return body(path)
    }

    private static func fill(_ descriptor: Int32, _ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count == 0 || errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}
