internal import LinnetSecurity
package import NIOCore

/// The way out: plaintext becomes ciphertext, no more at a time than the socket takes.
extension TLSHandler {
    /// What a record holds (RFC 8446, 5.1), and the largest write that is copied to share one.
    private static let (recordBytes, mostGatheredBytes) = (16_384, 2_048)
    /// What is encrypted at a time: more waits until the socket has taken the ciphertext of what came before.
    private static let mostBytesAtATime = 262_144
    /// After so many such pieces the event loop's other channels come first, however fast the socket is.
    private static let mostPiecesInARow = 16

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let bytes = unwrapOutboundIn(data)
        switch state {
        case .idle, .handshaking, .awaitingVerdict, .awaitingIdentity:
            pendingWrites.append((bytes, promise))
        case .active where !pendingWrites.isEmpty:
            pendingWrites.append((bytes, promise))
        case .active where 1...Self.mostGatheredBytes ~= bytes.readableBytes:
            gathered.append(bytes, promise)
            if gathered.bytes.readableBytes >= Self.recordBytes { encryptGathered(context) }
        case .active where canEncrypt(bytes, context):
            encryptGathered(context)
            encrypt(context, bytes, promise)
        case .active:
            encryptGathered(context)
            pendingWrites.append((bytes, promise))
        case .closing, .closed:
            promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    package func flush(context: ChannelHandlerContext) {
        encryptGathered(context)
        sendCiphertext(context)
        encryptPending(context)
    }

    package func channelWritabilityChanged(context: ChannelHandlerContext) {
        encryptPending(context)
        context.fireChannelWritabilityChanged()
    }

    // MARK: Encrypting

    /// Small writes become one record: a record costs more than the bytes in it.
    func encryptGathered(_ context: ChannelHandlerContext) {
        guard gathered.bytes.readableBytes > 0 else { return }
        encrypt(context, gathered.bytes, gathered.takePromise())
        gathered.clear()
    }

    /// False when it failed, and the connection is closed.
    @discardableResult
    private func encrypt(
        _ context: ChannelHandlerContext, _ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?
    ) -> Bool {
        hasWritten = true
        guard let connection, let errors = connection.write(bytes) else {
            writePromise.setOrCascade(to: promise)
            return true
        }
        promise?.fail(TransportError(.tlsProtocolError, "TLS failed: \(errors.summary).", underlying: errors.first))
        context.close(promise: nil)
        return false
    }

    /// Whether a write need not wait: it is no more than what is encrypted at a time, and the socket keeps up.
    private func canEncrypt(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        bytes.readableBytes <= Self.mostBytesAtATime && !hasMuchCiphertext && context.channel.isWritable
    }

    private var hasMuchCiphertext: Bool { connection.map { $0.bio.outboundBytes >= Self.mostBytesAtATime } ?? false }

    /// Encrypts what waits, piece by piece, for as long as the socket takes the ciphertext: the event loop does not encrypt a
    /// large body at once, nor is there a second copy of it.
    func encryptPending(_ context: ChannelHandlerContext, waitsForSocket: Bool = true) {
        guard !isEncryptingPending, !pendingWrites.isEmpty else { return }
        isEncryptingPending = true
        defer { isEncryptingPending = false }
        var pieces = 0
        while state == .active, !waitsForSocket || (context.channel.isWritable && pieces < Self.mostPiecesInARow),
            var write = pendingWrites.popFirst()
        {
            pieces += 1
            let piece = write.bytes.readSlice(length: min(write.bytes.readableBytes, Self.mostBytesAtATime))
            let isLast = write.bytes.readableBytes == 0
            if !isLast { pendingWrites.prepend(write) }
            guard encrypt(context, piece ?? ByteBuffer(), isLast ? write.promise : nil) else { return }
            if hasMuchCiphertext { sendCiphertext(context) }
        }
        if state == .active { sendCiphertext(context) }
        guard waitsForSocket, pieces >= Self.mostPiecesInARow, !pendingWrites.isEmpty else { return }
        context.eventLoop.assumeIsolated().execute { self.encryptPending(context) }
    }

    func sendCiphertext(_ context: ChannelHandlerContext) {
        let promise = writePromise
        writePromise = nil
        if let bytes = connection?.bio.takeOutbound() {
            context.writeAndFlush(wrapOutboundOut(bytes), promise: promise)
        } else {
            promise?.succeed()
            context.flush()
        }
    }
}
