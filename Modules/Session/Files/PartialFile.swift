internal import LinnetSerialization
internal import NIOCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file that is written under a temporary name. Deallocation removes it, unless it was moved or left in place.
final class PartialFile {
    /// The maximum number of buffers for one `writev` call (`IOV_MAX` on Linux).
    private static let mostVectors = 1024
    /// The number of bytes that are written back at once.
    private static let writeBackSize: Int64 = 8 << 20

    let path: String
    /// The path of the destination, for the messages of errors.
    private let finalPath: String
    /// The file descriptor; nil once the file is closed.
    private var descriptor: Int32?
    /// The number of bytes in the file.
    private(set) var size: Int64 = 0
    /// Whether the system begins to write bytes to the disk soon after they were written to the file, so that
    /// synchronizing it at the end takes no time of its own.
    var writesBack = false
    /// The number of bytes for which that has begun.
    private var writtenBack: Int64
    /// Whether the file was moved or left in place, so that it is not removed.
    var isMoved = false

    /// - Parameter size: The number of bytes that are in the file already.
    init(path: String, finalPath: String, descriptor: Int32, size: Int64 = 0) {
        self.path = path
        self.finalPath = finalPath
        self.descriptor = descriptor
        self.size = size
        writtenBack = size
    }

    deinit {
        discard()
    }

    /// Appends buffers without copying their bytes.
    func write(_ buffers: some Collection<ByteBuffer>) throws(FileFailure) {
        var vectors: [iovec] = []
        // The vectors point into the memory of the buffers, which is retained until the bytes are written.
        var owners: [Unmanaged<AnyObject>] = []
        vectors.reserveCapacity(buffers.count)
        owners.reserveCapacity(buffers.count)
        for buffer in buffers where buffer.readableBytes > 0 {
            buffer.withUnsafeReadableBytesWithStorageManagement { bytes, storage in
                vectors.append(iovec(iov_base: .init(mutating: bytes.baseAddress), iov_len: bytes.count))
                owners.append(storage.retain())
            }
        }
        defer { for owner in owners { owner.release() } }
        try write(&vectors)
        if writesBack, let descriptor, size - writtenBack >= Self.writeBackSize {
            LinuxFile.writeBack(descriptor, writtenBack..<size, waiting: false)
            writtenBack = size
        }
    }

    private func write(_ vectors: inout [iovec]) throws(FileFailure) {
        var first = 0
        while first < vectors.count {
            var count = try write(vectors[first...].prefix(Self.mostVectors))
            size += Int64(count)
            while first < vectors.count, count >= Int(vectors[first].iov_len) {
                count -= Int(vectors[first].iov_len)
                first += 1
            }
            // The system may take a part of the vectors only.
            guard count > 0 else { continue }
            vectors[first].iov_base += count
            vectors[first].iov_len -= numericCast(count)
        }
    }

    private func write(_ vectors: ArraySlice<iovec>) throws(FileFailure) -> Int {
        guard let descriptor else { throw SystemFile.failure(finalPath, "is closed", EBADF) }
        let count = vectors.withUnsafeBufferPointer { vectors in
            SystemCall.retrying { writev(descriptor, vectors.baseAddress, Int32(vectors.count)) }
        }
        guard count > 0 else {
            throw SystemFile.failure(finalPath, "cannot be written", count < 0 ? errno : EIO)
        }
        return count
    }

    /// Reserves room for further bytes, or only checks that there is room now if the file system cannot reserve it.
    func reserveRoom(for count: Int64) throws(FileFailure) {
        guard let descriptor, count > 0 else { return }
        try FileRoom.reserve(descriptor, from: size, count: count, finalPath)
    }

    /// Appends the bytes of another file.
    func append(contentsOf path: String) throws(FileFailure) {
        guard let descriptor else { throw SystemFile.failure(finalPath, "is closed", EBADF) }
        try SystemFile.copy(path, to: descriptor, finalPath)
    }

    /// Closes the file. Some file systems report a full disk only on close, so errors are thrown.
    func close(synchronizing: Bool) throws(FileFailure) {
        guard let descriptor else { return }
        if synchronizing, SystemCall.retrying({ fsync(descriptor) }) != 0 {
            throw SystemFile.failure(finalPath, "cannot be synchronized to the disk")
        }
        self.descriptor = nil
        // After EINTR, Linux has closed the descriptor: closing it again could close a file of another thread.
        guard closeDescriptor(descriptor) == 0 || errno == EINTR else {
            throw SystemFile.failure(finalPath, "cannot be closed")
        }
    }

    /// Closes the file and removes it, unless it was moved or left in place.
    func discard() {
        closeQuietly()
        if !isMoved { unlink(path) }
        isMoved = true
    }

    /// Closes the file and leaves it in place, so that the download can be resumed.
    func leave() {
        closeQuietly()
        isMoved = true
    }

    private func closeQuietly() {
        if let descriptor { _ = closeDescriptor(descriptor) }
        descriptor = nil
    }

    /// Locks the file against other downloads.
    func lock() throws(FileFailure) {
        if let descriptor { try SystemFile.lock(descriptor, path) }
    }
}

private func closeDescriptor(_ descriptor: Int32) -> Int32 {
    close(descriptor)
}
