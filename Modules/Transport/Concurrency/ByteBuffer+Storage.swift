package import NIOCore

/// The memory that buffers keep alive.
extension ByteBuffer {
    /// The largest body in one buffer: almost 4 GiB, because the first read may also contain bytes before the body.
    /// Beyond its capacity, a buffer traps.
    static var largestBody: Int { Int(UInt32.max) - 16 * 1024 * 1024 }

    /// Adds bytes after the unread ones. Read bytes are dropped when they are as many as the unread ones: the unread
    /// bytes limit the capacity, and each byte is copied a constant number of times on average.
    package mutating func appendUnread(_ bytes: ByteBuffer) {
        guard readableBytes > 0 else {
            self = bytes
            return
        }
        if readerIndex >= readableBytes {
            var unread = ByteBufferAllocator().buffer(capacity: readableBytes + bytes.readableBytes)
            unread.writeImmutableBuffer(self)
            self = unread
        }
        writeImmutableBuffer(bytes)
    }
}

extension [ByteBuffer] {
    /// The buffers, copied into a single one if they are a small part of the memory that they would keep alive.
    func gathered() -> [ByteBuffer] {
        let bytes = reduce(0) { $0 + $1.readableBytes }
        guard let first, first.storageCapacity / 4 > bytes else { return self }
        var copy = ByteBufferAllocator().buffer(capacity: bytes)
        for buffer in self { copy.writeImmutableBuffer(buffer) }
        return [copy]
    }
}
