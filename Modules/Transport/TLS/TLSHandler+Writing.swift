internal import LinnetSecurity
internal import NIOCore
internal import NIOPosix

/// Sending: encrypts plaintext at the rate at which the socket accepts it.
extension TLSHandler {
    /// The size of a record (RFC 8446, 5.1), and of the largest write that is copied to share one.
    private static let (recordBytes, mostGatheredBytes) = (16_384, 2_048)
    /// The bytes encrypted at a time; more wait until the socket has accepted the ciphertext.
    private static let mostBytesAtATime = 262_144
    /// The pieces encrypted before the event loop's other channels get a turn.
    private static let mostPiecesInARow = 16

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let bytes = unwrapOutboundIn(data)
        switch machine.sending {
        case .keep:
            pendingWrites.append((bytes, promise))
        // Bytes must not overtake the ones that wait.
        case .encrypt where !pendingWrites.isEmpty:
            pendingWrites.append((bytes, promise))
        case .encrypt where 1...Self.mostGatheredBytes ~= bytes.readableBytes:
            gathered.append(bytes, promise)
            if gathered.bytes.readableBytes >= Self.recordBytes { encryptGathered(context) }
        case .encrypt where canEncrypt(bytes, context):
            encryptGathered(context)
            encrypt(context, bytes, promise)
        case .encrypt:
            encryptGathered(context)
            pendingWrites.append((bytes, promise))
        case .refuse:
            promise?.fail(ChannelError.ioOnClosedChannel)
        }
    }

    func flush(context: ChannelHandlerContext) {
        encryptGathered(context)
        sendCiphertext(context)
        encryptPending(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        encryptPending(context)
        context.fireChannelWritabilityChanged()
    }

    // MARK: Encrypting

    /// Combines small writes into one record, since a record costs more than its bytes.
    func encryptGathered(_ context: ChannelHandlerContext) {
        guard gathered.bytes.readableBytes > 0 else { return }
        encrypt(context, gathered.bytes, gathered.takePromise())
        gathered.clear()
    }

    /// Returns false if encryption failed and the connection was closed.
    @discardableResult
    private func encrypt(
        _ context: ChannelHandlerContext, _ bytes: ByteBuffer, _ promise: EventLoopPromise<Void>?
    ) -> Bool {
        machine.encrypted()
        if bytes.readableBytes >= Self.manyBytes { connection?.keepBuffers() }
        guard let connection, let errors = connection.write(bytes) else {
            writePromise.setOrCascade(to: promise)
            return true
        }
        promise?.fail(TransportError(.tlsProtocolError, "TLS failed: \(errors.summary).", underlying: errors.first))
        context.close(promise: nil)
        return false
    }

    /// Whether a write can be encrypted immediately: it is small enough, and the socket keeps up.
    private func canEncrypt(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) -> Bool {
        bytes.readableBytes <= Self.mostBytesAtATime && !hasMuchCiphertext && context.channel.isWritable
    }

    private var hasMuchCiphertext: Bool { connection.map { $0.bio.outboundBytes >= Self.mostBytesAtATime } ?? false }

    /// Encrypts waiting writes piece by piece while the socket accepts the ciphertext, so that a large body neither
    /// blocks the event loop nor exists twice in memory.
    func encryptPending(_ context: ChannelHandlerContext, waitsForSocket: Bool = true) {
        guard !isEncryptingPending, !pendingWrites.isEmpty else { return }
        // Sending can make the channel writable, which calls this again.
        isEncryptingPending = true
        defer { isEncryptingPending = false }
        var pieces = 0
        // Again, since sending may complete a write, after which its writer adds the next one.
        repeat {
            while machine.sending == .encrypt,
                !waitsForSocket || (context.channel.isWritable && pieces < Self.mostPiecesInARow),
                var write = pendingWrites.popFirst()
            {
                pieces += 1
                let piece = write.bytes.readSlice(length: min(write.bytes.readableBytes, Self.mostBytesAtATime))
                let isLast = write.bytes.readableBytes == 0
                if !isLast { pendingWrites.prepend(write) }
                guard encrypt(context, piece ?? ByteBuffer(), isLast ? write.promise : nil) else { return }
                if hasMuchCiphertext { sendCiphertext(context) }
            }
            if machine.sending == .encrypt { sendCiphertext(context) }
        } while machine.sending == .encrypt && !pendingWrites.isEmpty
            && (!waitsForSocket || (context.channel.isWritable && pieces < Self.mostPiecesInARow))
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

/// Small writes that are combined into one.
struct GatheredWrites {
    /// The combined bytes; the memory is reused after ``clear()``.
    private(set) var bytes = ByteBuffer()
    private var promise: EventLoopPromise<Void>?

    mutating func append(_ more: ByteBuffer, _ promise: EventLoopPromise<Void>?) {
        bytes.writeImmutableBuffer(more)
        self.promise.setOrCascade(to: promise)
    }

    /// Takes the promise of all combined writes.
    mutating func takePromise() -> EventLoopPromise<Void>? {
        defer { promise = nil }
        return promise
    }

    mutating func clear() {
        bytes.clear()
    }

    /// Frees the memory if it is not in use.
    mutating func rest() {
        if bytes.readableBytes == 0 { bytes = ByteBuffer() }
    }
}

/// Memory for decrypted bytes, reused once it is no longer referenced.
///
/// Without it, readers free memory on another thread than the event loop that allocates it, and the C library returns
/// the pages to the system each time, so that new pages have to be mapped and cleared.
///
/// There is one for each event loop instead of each connection, so that idle connections hold no memory.
final class TLSPlaintextPool {
    /// All buffers together have at most one mebibyte.
    private static let (mostBuffers, mostBytes) = (16, 65_536)

    // SAFETY: each thread has its own value; the system synchronizes the variable itself.
    nonisolated(unsafe) private static let pools = ThreadSpecificVariable<TLSPlaintextPool>()

    /// The pool of the event loop that runs on this thread.
    static var current: TLSPlaintextPool {
        if let pool = pools.currentValue { return pool }
        let pool = TLSPlaintextPool()
        pools.currentValue = pool
        return pool
    }

    private var buffers: [ByteBuffer] = []
    /// The buffer used last.
    private var position = 0

    /// Calls `fill` with an empty buffer of at least this capacity, up to a maximum, and returns the buffer with the
    /// result. `fill` must not make it grow.
    func buffer<Result>(
        capacity: Int, _ fill: (inout ByteBuffer) -> Result
    ) -> (buffer: ByteBuffer, result: Result) {
        let capacity = min(capacity, Self.mostBytes)
        for _ in buffers.indices {
            position = (position + 1) % buffers.count
            // A much larger buffer would be kept alive by few bytes.
            guard (capacity..<(2 * capacity)).contains(buffers[position].capacity) else { continue }
            let result = buffers[position].modifyIfUniquelyOwned { buffer in
                buffer.clear()
                return fill(&buffer)
            }
            if let result { return (buffers[position], result) }
        }
        var buffer = ByteBufferAllocator().buffer(capacity: capacity)
        let result = fill(&buffer)
        add(buffer)
        return (buffer, result)
    }

    private func add(_ buffer: ByteBuffer) {
        if buffers.count < Self.mostBuffers {
            buffers.append(buffer)
        } else {
            // The replaced buffer is still referenced, and freed with its last reference.
            position = (position + 1) % buffers.count
            buffers[position] = buffer
        }
    }
}
