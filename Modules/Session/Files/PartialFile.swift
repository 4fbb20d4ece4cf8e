internal import LinnetSerialization
internal import NIOCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file that is being written, under a name of its own. It is gone with its last reference, unless it was moved.
final class PartialFile {
    /// As many pieces as one call takes (POSIX's IOV_MAX on Linux).
    private static let mostVectors = 1024

    let path: String
    /// What the caller calls it, for errors.
    private let finalPath: String
    /// Nil once it is closed.
    private var descriptor: Int32?
    /// The bytes in it.
    private(set) var size: Int64 = 0
    /// Whether it has got another name, under which it stays.
    var isMoved = false

    /// - Parameter size: The bytes that are in it already.
    init(path: String, finalPath: String, descriptor: Int32, size: Int64 = 0) {
        self.path = path
        self.finalPath = finalPath
        self.descriptor = descriptor
        self.size = size
    }

    deinit {
        discard()
    }

    /// Writes buffers behind what is there, from their own memory.
    func write(_ buffers: some Collection<ByteBuffer>) throws(FileFailure) {
        var vectors: [iovec] = []
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

    /// Writes another file's bytes behind what is there.
    func append(contentsOf path: String) throws(FileFailure) {
        guard let descriptor else { throw SystemFile.failure(finalPath, "is closed", EBADF) }
        try SystemFile.copy(path, to: descriptor, finalPath)
    }

    /// Closes it; some file systems say only now that there was no room.
    func close(synchronizing: Bool) throws(FileFailure) {
        guard let descriptor else { return }
        if synchronizing, fsync(descriptor) != 0 {
            throw SystemFile.failure(finalPath, "cannot be written to its disk")
        }
        self.descriptor = nil
        guard closeDescriptor(descriptor) == 0 || errno == EINTR else {
            throw SystemFile.failure(finalPath, "cannot be closed")
        }
    }

    /// Removes it, unless it was moved.
    func discard() {
        closeQuietly()
        if !isMoved { unlink(path) }
        isMoved = true
    }

    /// Leaves the file in place, so that the download can be resumed.
    func leave() {
        closeQuietly()
        isMoved = true
    }

    private func closeQuietly() {
        if let descriptor { _ = closeDescriptor(descriptor) }
        descriptor = nil
    }

    /// Keeps others who would write to it away.
    func lock() throws(FileFailure) {
        if let descriptor { try SystemFile.lock(descriptor, path) }
    }
}

private func closeDescriptor(_ descriptor: Int32) -> Int32 {
    close(descriptor)
}
