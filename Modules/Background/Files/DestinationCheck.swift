#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Finds problems of a destination before anything is sent.
enum DestinationCheck {
    /// Blocks.
    static func check(_ definition: TransferDefinition) throws(BackgroundError) {
        var status = stat()
        guard lstat(definition.path, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG, S_IFLNK:
            guard definition.replacesFile else {
                throw BackgroundError(.invalidDestination, "The file \(definition.path) already exists.")
            }
        case S_IFDIR:
            throw BackgroundError(.invalidDestination, "The destination \(definition.path) is a folder.")
        default:
            throw BackgroundError(.invalidDestination, "The destination \(definition.path) is not a file.")
        }
    }
}
