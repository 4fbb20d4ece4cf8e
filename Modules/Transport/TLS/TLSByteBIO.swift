internal import COpenSSL
internal import NIOCore

/// The ciphertext of a TLS connection as an OpenSSL BIO: OpenSSL reads from `inbound`, writes to `outbound`, and
/// retries when `inbound` is empty. The handler, not this BIO, handles the end of the connection.
///
/// Owned by a ``TLSConnection``, which frees the `SSL` and with it the BIO before this object is released.
final class TLSByteBIO {
    private var inbound = ByteBuffer()
    private var outbound = ByteBuffer()
    /// Whether the content of `outbound` was taken; its memory is reused afterwards.
    private var isOutboundTaken = false
    let bio: OpaquePointer

    /// The capacity of the output buffer that a connection keeps.
    private static let mostBytesKept = 16_384

    init() throws(TransportError) {
        guard let method = TLSByteBIO.method, let bio = BIO_new(method) else {
            throw TransportError(.tlsHandshakeFailed, "OpenSSL has no memory for a BIO.")
        }
        self.bio = bio
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    }

    var inboundBytes: Int { inbound.readableBytes }

    /// Adds received bytes.
    func feed(_ bytes: ByteBuffer) {
        if inbound.readableBytes == 0 {
            inbound = bytes
        } else {
            inbound.writeImmutableBuffer(bytes)
        }
    }

    /// The number of bytes to send.
    var outboundBytes: Int { isOutboundTaken ? 0 : outbound.readableBytes }

    /// Whether there are bytes to send.
    var hasOutbound: Bool { outboundBytes > 0 }

    /// Takes the bytes to send; nil if there are none.
    func takeOutbound() -> ByteBuffer? {
        guard hasOutbound else { return nil }
        defer {
            if outbound.capacity > Self.mostBytesKept { outbound = ByteBuffer() } else { isOutboundTaken = true }
        }
        return outbound
    }

    /// Frees memory that is not in use.
    func rest() {
        guard !hasOutbound else { return }
        outbound = ByteBuffer()
        isOutboundTaken = false
    }

    /// Reserves capacity for about this many bytes of ciphertext.
    func reserveOutbound(_ bytes: Int) {
        prepareOutbound()
        outbound.reserveCapacity(minimumWritableBytes: bytes)
    }

    /// Clears taken output, reusing the memory if it is no longer shared.
    private func prepareOutbound() {
        guard isOutboundTaken else { return }
        isOutboundTaken = false
        outbound.clear()
    }

    private func read(into destination: UnsafeMutablePointer<CChar>, count: Int) -> Int {
        let length = min(count, inbound.readableBytes)
        guard length > 0 else { return 0 }
        inbound.withUnsafeReadableBytes { source in
            UnsafeMutableRawBufferPointer(start: destination, count: length)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<length]))
        }
        inbound.moveReaderIndex(forwardBy: length)
        if inbound.readableBytes == 0 { inbound = ByteBuffer() }
        return length
    }

    private func write(from source: UnsafePointer<CChar>, count: Int) {
        prepareOutbound()
        outbound.writeBytes(UnsafeRawBufferPointer(start: source, count: count))
    }

    private static func owner(of bio: OpaquePointer?) -> TLSByteBIO? {
        guard let bio, let data = BIO_get_data(bio) else { return nil }
        return Unmanaged<TLSByteBIO>.fromOpaque(data).takeUnretainedValue()
    }

    /// SAFETY: initialized once, under Swift's guard for globals, and only read afterwards.
    nonisolated(unsafe) private static let method: OpaquePointer? = {
        guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "linnet") else { return nil }
        BIO_meth_set_create(method) { bio in
            BIO_set_init(bio, 1)
            return 1
        }
        BIO_meth_set_read_ex(method) { bio, destination, count, read in
            guard let bio, let destination, let read, let owner = TLSByteBIO.owner(of: bio) else { return 0 }
            linnet_BIO_clear_retry_flags(bio)
            read.pointee = owner.read(into: destination, count: count)
            guard read.pointee == 0 else { return 1 }
            // Without this flag, OpenSSL takes the lack of bytes for the end of the connection.
            linnet_BIO_set_retry_read(bio)
            return 0
        }
        BIO_meth_set_write_ex(method) { bio, source, count, written in
            guard let bio, let source, let written, let owner = TLSByteBIO.owner(of: bio) else { return 0 }
            linnet_BIO_clear_retry_flags(bio)
            owner.write(from: source, count: count)
            written.pointee = count
            return 1
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in
            // OpenSSL flushes after each flight of the handshake, and goes on only if that succeeds.
            command == BIO_CTRL_FLUSH ? 1 : 0
        }
        return method
    }()
}
