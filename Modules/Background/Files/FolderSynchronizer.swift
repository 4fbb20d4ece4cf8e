internal import LinnetSerialization
internal import LinnetTransport

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Synchronizes folders to the disk. Calls that arrive while a folder is synchronized share the next time, because one
/// `fsync` is enough for all names that are there when it begins.
actor FolderSynchronizer {
    private struct Folder {
        /// The synchronization that has begun last.
        var last: Task<Int32, Never>?
        /// The one that has not begun.
        var next: Task<Int32, Never>?
    }

    private var folders: [String: Folder] = [:]

    /// Makes the present names of a folder survive a power failure.
    ///
    /// - Returns: 0, or the error number.
    func synchronize(_ path: String) async -> Int32 {
        if let next = folders[path]?.next { return await next.value }
        let last = folders[path]?.last
        let next = Task {
            _ = await last?.value
            begin(path)
            let code = await withTaskExecutorPreference(FileExecutor.shared) { Self.synchronize(path) }
            end(path)
            return code
        }
        folders[path, default: Folder()].next = next
        return await next.value
    }

    private func begin(_ path: String) {
        folders[path] = Folder(last: folders[path]?.next)
    }

    private func end(_ path: String) {
        if folders[path]?.next == nil { folders[path] = nil }
    }

    /// Synchronizes a folder. It blocks.
    ///
    /// - Returns: 0, or the error number.
    static func synchronize(_ path: String) -> Int32 {
        let descriptor = SystemCall.retrying { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        return SystemCall.retrying { fsync(descriptor) } == 0 ? 0 : errno
    }
}
