internal import FoundationEssentials
internal import LinnetSecurity
internal import NIOCore

/// A channel handler for the client side of TLS, with ciphertext below and plaintext above.
///
/// An evaluator decides on the server's chain in a task of its own. The handshake is paused until then, and the event
/// loop serves other channels.
final class TLSHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    typealias Judge = @Sendable (TLSPresentedChain) async -> TrustDecision

    /// Chooses the client identity from the authorities that the server accepts.
    typealias Chooser = @Sendable (_ acceptableIssuers: [String]) async -> Result<ClientIdentity?, any Error>

    /// The minimum overhead of a record: its header (RFC 8446, 5.1), the tag and the content type.
    private static let recordOverhead = 22
    /// The capacity of the read buffer that a connection keeps.
    private static let mostSmallBytes = 4_096

    private let makeConnection: () throws(TransportError) -> TLSConnection
    private let judge: Judge
    private let choose: Chooser?
    var connection: TLSConnection?
    var state = TLSHandlerState.idle
    private var judging: Task<Void, Never>?
    private var handshakePromise: EventLoopPromise<TLSSessionInfo>?
    /// Writes that wait for the handshake, or for the socket to accept earlier ciphertext.
    var pendingWrites = CircularBuffer<(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)>()
    var isEncryptingPending = false
    var writePromise: EventLoopPromise<Void>?
    var gathered = GatheredWrites()
    private var smallPlaintext = ByteBuffer()
    private var heardCloseNotify = false
    private var hasRead = false
    var hasWritten = false
    private let lateFailure: TLSLateFailure?

    /// Creates a handler; `promise` is completed when the handshake ends.
    ///
    /// `lateFailure` receives what the server reports about the client certificate after the handshake. The judge is
    /// not asked if a session of `resumption` is resumed.
    init(
        _ context: TLSClientContext, serverName: String?, applicationProtocols: [String]? = nil,
        resumption: TLSResumption? = nil, identity: ClientIdentity? = nil, lateFailure: TLSLateFailure? = nil,
        promise: EventLoopPromise<TLSSessionInfo>, choose: Chooser? = nil, judge: @escaping Judge
    ) {
        makeConnection = { () throws(TransportError) in
            try TLSConnection(
                context, serverName: serverName, applicationProtocols: applicationProtocols, resumption: resumption,
                identity: identity, asksForIdentity: choose != nil)
        }
        handshakePromise = promise
        self.judge = judge
        self.choose = choose
        self.lateFailure = lateFailure
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive {
            begin(context)
        } else {
            // The channel was open, and has already closed.
            failHandshake(
                TransportError(.connectionClosed, "The server closed the connection before the TLS handshake."))
        }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let connection, state != .closed else { return }
        connection.bio.feed(unwrapInboundIn(data))
        if state == .handshaking { advanceHandshake(context) }
        if state == .active { deliverPlaintext(context) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // The handlers above do not read before the handshake is done. During an evaluation nothing is read, so that
        // the server cannot fill buffers.
        if case .handshaking = state { context.read() }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        switch state {
        case .idle, .handshaking, .awaitingVerdict, .awaitingIdentity:
            failHandshake(
                TransportError(.connectionClosed, "The server closed the connection during the TLS handshake."))
        case .active where !heardCloseNotify:
            noteMissingCertificate()
            context.fireUserInboundEventTriggered(TLSTruncated())
        case .active, .closing, .closed:
            break
        }
        end()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        failHandshake(TransportError(.connectionClosed, "The connection was closed."))
        end()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if state.isHandshake {
            failHandshake(
                TransportError(
                    .connectionClosed,
                    "The connection broke during the TLS handshake: \(TransportError.reason(error)).", underlying: error
                ))
            context.close(promise: nil)
        } else {
            noteMissingCertificate()
            context.fireErrorCaught(error)
        }
    }

    /// Records a missing client certificate if the server requested one and closes the connection instead of answering.
    /// It should send an alert, which the system may discard because of data that the client had sent.
    private func noteMissingCertificate() {
        guard state == .active, let connection, hasWritten, !hasRead else { return }
        guard connection.certificateRequest == .unanswered else { return }
        lateFailure?.note(.clientCertificateRequired(nil, nil))
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .input else { return context.close(mode: mode, promise: promise) }
        if state == .active || (state == .closing && mode == .all) {
            encryptGathered(context)
            // Pending writes are sent before an orderly end. If bytes are missing, no close_notify is sent.
            if mode == .output { encryptPending(context, waitsForSocket: false) }
            if state == .active && pendingWrites.isEmpty { connection?.shutdown() }
            sendCiphertext(context)
        }
        if mode == .all {
            failHandshake(TransportError(.connectionClosed, "The connection was closed."))
            end()
        }
        context.close(mode: mode, promise: promise)
    }

    // MARK: Handshake

    private func begin(_ context: ChannelHandlerContext) {
        guard case .idle = state else { return }
        do {
            connection = try makeConnection()
        } catch {
            failHandshake(error)
            context.close(promise: nil)
            return
        }
        state = .handshaking
        advanceHandshake(context)
        context.read()
    }

    private func advanceHandshake(_ context: ChannelHandlerContext) {
        guard let connection else { return }
        let step = connection.handshake()
        sendCiphertext(context)
        switch step {
        case .needsBytes:
            break
        case .needsVerdict:
            askForVerdict(context, connection)
        case .needsIdentity(let issuers):
            askForIdentity(context, issuers)
        case .failed(let errors):
            refuse(context, handshakeError(connection, errors))
        case .complete:
            completeHandshake(context, connection)
        }
    }

    private func askForVerdict(_ context: ChannelHandlerContext, _ connection: TLSConnection) {
        state = .awaitingVerdict
        let presented = connection.presented
        let handler = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // No promise, since an evaluator may outlive its event loop.
        judging = Task(executorPreference: JudgeExecutor.shared) { [judge] in
            let decision = await judge(presented)
            handler.execute { $0.0.receive(decision, $0.1) }
        }
    }

    private func receive(_ decision: TrustDecision, _ context: ChannelHandlerContext) {
        // The channel may have closed meanwhile.
        guard case .awaitingVerdict = state, let connection else { return }
        judging = nil
        connection.receive(decision)
        goOn(context)
    }

    private func askForIdentity(_ context: ChannelHandlerContext, _ issuers: [String]) {
        guard let choose else {
            return refuse(
                context, TransportError(.tlsHandshakeFailed, "No function is configured to choose a client identity."))
        }
        state = .awaitingIdentity
        let handler = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        judging = Task(executorPreference: JudgeExecutor.shared) {
            let answer = await choose(issuers)
            handler.execute { $0.0.receive(answer, $0.1) }
        }
    }

    private func receive(_ answer: Result<ClientIdentity?, any Error>, _ context: ChannelHandlerContext) {
        guard case .awaitingIdentity = state, let connection else { return }
        judging = nil
        switch answer {
        case .success(let identity):
            connection.answer(identity)
            goOn(context)
        case .failure(let error):
            refuse(context, .noIdentityChosen(error))
        }
    }

    /// Continues the paused handshake.
    private func goOn(_ context: ChannelHandlerContext) {
        state = .handshaking
        advanceHandshake(context)
        if state == .active {
            deliverPlaintext(context)
            context.fireChannelReadComplete()
        }
        context.read()
    }

    private func completeHandshake(_ context: ChannelHandlerContext, _ connection: TLSConnection) {
        // No application data has been sent.
        if connection.owesAnotherVerdict() { return askForVerdict(context, connection) }
        // OpenSSL completed the handshake without a decision; this must not pass.
        guard connection.confirmTrust() else {
            guard case .refused = connection.verdict else {
                return refuse(
                    context,
                    TransportError(
                        .tlsHandshakeFailed, "There is no valid trust decision for the server's certificate chain."))
            }
            return refuse(context, handshakeError(connection, []))
        }
        state = .active
        handshakePromise?.succeed(connection.session())
        handshakePromise = nil
        encryptPending(context)
        sendCiphertext(context)
    }

    private func refuse(_ context: ChannelHandlerContext, _ error: TransportError) {
        failHandshake(error)
        end()
        context.close(promise: nil)
    }

    /// Aborts the handshake unless it is complete.
    func abort(_ error: TransportError, channel: any Channel) {
        guard state == .idle || state.isHandshake else { return }
        failHandshake(error)
        end()
        channel.close(promise: nil)
    }

    private func failHandshake(_ error: TransportError) {
        guard let promise = handshakePromise else { return }
        handshakePromise = nil
        connection?.handshakeFailed()
        promise.fail(error)
    }

    private func handshakeError(_ connection: TLSConnection, _ errors: [OpenSSLError]) -> TransportError {
        if case .refused(let refusal) = connection.verdict {
            return TransportError(.trustRefused, refusal.message, underlying: refusal, trustRefusal: refusal)
        }
        if let error = connection.identityFailure ?? connection.certificateFailure(errors) { return error }
        return TransportError(
            .tlsHandshakeFailed, "The TLS handshake failed: \(errors.summary).", underlying: errors.first)
    }

    // MARK: Application data

    private func deliverPlaintext(_ context: ChannelHandlerContext) {
        guard let connection else { return }
        var step: TLSConnection.ReadStep
        repeat {
            let plaintext: ByteBuffer
            (plaintext, step) = decrypt(connection)
            // Reading can cause output, for example for a key update.
            if connection.bio.hasOutbound { sendCiphertext(context) }
            if plaintext.readableBytes > 0 {
                hasRead = true
                context.fireChannelRead(wrapInboundOut(plaintext))
            }
        } while step.isFull && state == .active
        switch step {
        case .bytes, .needsBytes, .full:
            break
        case .closed:
            heardCloseNotify = true
            guard state == .active else { return }
            encryptGathered(context)
            // Answer with close_notify (RFC 8446, 6.1).
            connection.shutdown()
            sendCiphertext(context)
            state = .closing
            context.close(promise: nil)
        case .failed(let errors):
            guard state == .active else { return }
            end()
            // TLS 1.3 servers check a client certificate after the client's handshake is complete.
            let refusal = connection.certificateFailure(errors)
            if let refusal { lateFailure?.note(refusal) }
            context.fireErrorCaught(
                refusal
                    ?? TransportError(.tlsProtocolError, "TLS failed: \(errors.summary).", underlying: errors.first))
            context.close(promise: nil)
        }
    }

    /// Decrypts available bytes, small amounts into the connection's own memory and others into that of the event loop.
    private func decrypt(_ connection: TLSConnection) -> (ByteBuffer, TLSConnection.ReadStep) {
        // The exact size: a full record fits into 16 KiB.
        let capacity = max(connection.bio.inboundBytes + connection.pendingBytes - Self.recordOverhead, 1_024)
        guard capacity <= Self.mostSmallBytes else {
            return TLSPlaintextPool.current.buffer(capacity: capacity) { connection.read(into: &$0) }
        }
        // If the previous bytes are still referenced, their memory is not reused.
        smallPlaintext.clear(minimumCapacity: capacity)
        let step = connection.read(into: &smallPlaintext)
        return (smallPlaintext, step)
    }

    /// Closes the state and fails pending writes.
    private func end() {
        guard state != .closed else { return }
        state = .closed
        judging?.cancel()
        judging = nil
        while let write = pendingWrites.popFirst() { write.promise?.fail(ChannelError.ioOnClosedChannel) }
        gathered.takePromise()?.fail(ChannelError.ioOnClosedChannel)
        writePromise?.fail(ChannelError.ioOnClosedChannel)
        writePromise = nil
    }
}
