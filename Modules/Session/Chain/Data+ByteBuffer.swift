internal import FoundationEssentials
internal import NIOCore

extension Data {
    /// Below this a copy costs less than to keep the buffer alive.
    private static let copyLimit = 32 * 1024

    /// The readable bytes of a buffer: a copy when they are few, or much fewer than the buffer holds on to; otherwise the
    /// buffer's own memory, which does not change, since writes to a shared buffer copy it first.
    init(_ buffer: ByteBuffer) {
        let count = buffer.readableBytes
        guard count >= Self.copyLimit, count >= buffer.storageCapacity / 2 else {
            self = buffer.withUnsafeReadableBytes { Data($0) }
            return
        }
        self = buffer.withUnsafeReadableBytesWithStorageManagement { bytes, storage in
            guard let start = bytes.baseAddress else { return Data() }
            let owner = storage.retain()
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
                deallocator: .custom { _, _ in owner.release() })
        }
    }
}
