internal import NIOCore

#if canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Asks the system for facts about a channel's socket that the channel does not know.
///
/// Used on the channel's event loop, and only while the channel is active: the number of a closed descriptor may belong
/// to another one.
struct SocketProbe {
    /// The readable contents of the socket.
    enum Input {
        case nothing
        case bytes
        /// The peer has closed the connection, or it is broken.
        case end
    }

    /// The written bytes that the peer has acknowledged. Its application need not have read them.
    struct Delivery {
        var acknowledged: Int64
        /// The bytes that the socket has accepted and the peer has not acknowledged.
        var underWay: Int64
        /// The time since the last acknowledgement, as far as the system knows.
        var sinceLast = TimeAmount.zero
    }

    /// Linux's `struct tcp_info`, up to `tcpi_bytes_acked`, because the C library's header has only a part of it.
    private static let (infoBytes, lastAcknowledgement, acknowledged) = (128, 56, 120)

    private let descriptor: CInt

    /// Nil for a channel without a socket.
    init?(_ channel: any Channel) {
        let descriptor = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { $0 }
        guard let descriptor else { return nil }
        self.descriptor = descriptor
    }

    /// Looks at the readable bytes without reading them. Makes one system call, which does not wait.
    var input: Input {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT))
        if count > 0 { return .bytes }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end
    }

    /// Nil if the system does not know.
    var delivery: Delivery? {
        var queued: CInt = 0
        guard ioctl(descriptor, UInt(TIOCOUTQ), &queued) == 0 else { return nil }
        var length = socklen_t(Self.infoBytes)
        return withUnsafeTemporaryAllocation(byteCount: Self.infoBytes, alignment: 8) { info in
            guard let start = info.baseAddress,
                getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, start, &length) == 0, length == Self.infoBytes
            else {
                // For a unix socket, only the decrease of the peer's unread bytes is known.
                return Delivery(acknowledged: -Int64(queued), underWay: Int64(queued))
            }
            let milliseconds = info.load(fromByteOffset: Self.lastAcknowledgement, as: UInt32.self)
            return Delivery(
                acknowledged: info.load(fromByteOffset: Self.acknowledged, as: Int64.self), underWay: Int64(queued),
                sinceLast: .milliseconds(Int64(milliseconds)))
        }
    }
}
