package import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Room on the disk for a file that grows.
package enum FileRoom {
    /// Reserves room for bytes, while the size of the file stays as it is. If the file system cannot reserve it, checks
    /// only that there is room now. Blocks.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - offset: The position of the first byte.
    ///   - count: The number of bytes.
    ///   - path: The path for errors.
    package static func reserve(
        _ descriptor: Int32, from offset: Int64, count: Int64, _ path: String
    ) throws(FileFailure) {
        let (end, isHuge) = offset.addingReportingOverflow(count)
        let result = isHuge ? EFBIG : LinuxFile.reserve(descriptor, offset..<end)
        switch result {
        case 0: return
        case ENOSPC, EDQUOT, EFBIG:
            throw SystemFile.failure(path, "needs \(count) more bytes, and the disk has no room for them", result)
        default: try check(descriptor, count, path)
        }
    }

    private static func check(_ descriptor: Int32, _ count: Int64, _ path: String) throws(FileFailure) {
        var status = statvfs()
        // A file system without a size of its own, such as one in memory, says nothing about its room.
        guard fstatvfs(descriptor, &status) == 0, status.f_blocks > 0 else { return }
        let (room, isHuge) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        guard !isHuge, count > 0, room < UInt64(count) else { return }
        throw SystemFile.failure(path, "needs \(count) more bytes, and the disk has \(room)", ENOSPC)
    }
}
