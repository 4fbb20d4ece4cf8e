internal import CZlib
internal import NIOCore

/// Decompresses messages one after the other, up to a size (RFC 7692, section 7.2.2).
// SAFETY: It has one user at a time: the handler on its event loop, and after the end of the connection the queue under
// its lock.
final class MessageInflater: @unchecked Sendable {
    enum Failure: Error {
        case tooLarge
        case invalid
    }

    private static let step = 16 * 1024

    /// The stream needs a fixed address, because zlib refers back to it.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let takesNoContextOver: Bool
    private let isOpen: Bool

    /// Returns nil if zlib cannot start.
    init?(_ agreed: DeflateExtension) {
        takesNoContextOver = agreed.serverTakesNoContextOver
        stream.initialize(to: z_stream())
        isOpen = linnet_inflate_init(stream, -agreed.serverWindowBits) == Z_OK
        guard isOpen else { return nil }
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deallocate()
    }

    /// Returns the message of a payload.
    func inflate(_ payload: ByteBuffer, upTo limit: Int) throws(Failure) -> ByteBuffer {
        var output = ByteBuffer()
        try add(payload, to: &output, limit)
        try add(ByteBuffer(bytes: [0, 0, 0xFF, 0xFF]), to: &output, limit)
        // Otherwise the appended end became part of an unfinished block.
        guard isBetweenBlocks else { throw .invalid }
        if takesNoContextOver { inflateReset(stream) }
        return output
    }

    /// Whether the last byte ended a block, according to zlib.
    private var isBetweenBlocks: Bool { stream.pointee.data_type & 128 != 0 }

    private func add(_ input: ByteBuffer, to output: inout ByteBuffer, _ limit: Int) throws(Failure) {
        var rest = input
        while true {
            var (read, status) = (0, Z_OK)
            let written = rest.withUnsafeReadableBytes { bytes in
                stream.pointee.next_in = UnsafeMutablePointer(
                    mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
                stream.pointee.avail_in = UInt32(bytes.count)
                let written = output.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.step) { room in
                    // In small steps, so that a message that is too large is noticed soon after the limit.
                    let count = min(room.count, Self.step)
                    stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    stream.pointee.avail_out = UInt32(count)
                    status = CZlib.inflate(stream, Z_SYNC_FLUSH)
                    return count - Int(stream.pointee.avail_out)
                }
                read = bytes.count - Int(stream.pointee.avail_in)
                return written
            }
            rest.moveReaderIndex(forwardBy: read)
            guard output.readableBytes <= limit else { throw .tooLarge }
            switch status {
            case Z_OK, Z_BUF_ERROR:
                // Remaining room shows that all output has been written.
                if written < Self.step {
                    guard rest.readableBytes == 0 else { throw .invalid }
                    return
                }
            case Z_STREAM_END:
                // A final block may end a message (7.2.3.4), and later messages may still refer to it.
                guard inflateResetKeep(stream) == Z_OK else { throw .invalid }
                if rest.readableBytes == 0 { return }
            default: throw .invalid
            }
        }
    }
}
