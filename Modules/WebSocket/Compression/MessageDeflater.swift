internal import CZlib
internal import NIOCore

/// Compresses messages one after the other (RFC 7692, section 7.2.1).
final class MessageDeflater {
    /// The stream needs a fixed address, because zlib refers back to it.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let takesNoContextOver: Bool
    private let isOpen: Bool

    /// Returns nil if zlib cannot start.
    init?(_ agreed: DeflateExtension) {
        takesNoContextOver = agreed.clientTakesNoContextOver
        stream.initialize(to: z_stream())
        isOpen = linnet_deflate_init(stream, Z_DEFAULT_COMPRESSION, -agreed.clientWindowBits) == Z_OK
        guard isOpen else { return nil }
    }

    deinit {
        if isOpen { deflateEnd(stream) }
        stream.deallocate()
    }

    /// Returns the payload of the compressed message.
    func deflate(_ message: ByteBuffer) -> ByteBuffer {
        // For empty input, zlib writes nothing; the RFC prescribes this byte (7.2.3.6).
        guard message.readableBytes > 0 else { return ByteBuffer(bytes: [0]) }
        var output = ByteBuffer()
        message.withUnsafeReadableBytes { input in
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
            stream.pointee.avail_in = UInt32(input.count)
            let room = Int(deflateBound(stream, UInt(input.count))) + 16
            // zlib may keep output back as long as it fills the room.
            repeat {
                output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { bytes in
                    stream.pointee.next_out = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                    stream.pointee.avail_out = UInt32(bytes.count)
                    CZlib.deflate(stream, Z_SYNC_FLUSH)
                    return bytes.count - Int(stream.pointee.avail_out)
                }
            } while stream.pointee.avail_out == 0
        }
        // The payload omits the end of the flush, 00 00 FF FF.
        output.moveWriterIndex(to: max(output.readerIndex, output.writerIndex - 4))
        if takesNoContextOver { deflateReset(stream) }
        return output
    }
}
