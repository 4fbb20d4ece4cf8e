internal import FoundationEssentials
internal import LinnetSecurity
internal import NIOCore

/// A channel handler for the client side of TLS, with ciphertext below and plaintext above.
///
/// An evaluator decides on the server's chain in a separate task. The handshake is paused until then, and the event
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
    /// The size of a read or a write after which a connection keeps OpenSSL's buffers, also for its first request. It
    /// is the largest read of HTTP/1.1 over TLS.
    static let manyBytes = 65_536

    private let makeConnection: () throws(TransportError) -> TLSConnection
    private let judge: Judge
    private let choose: Chooser?
    var connection: TLSConnection?
    var machine = TLSStateMachine()
    /// The task that makes the decision which the handshake waits for.
    private var deciding: Task<Void, Never>?
    private var handshakePromise: EventLoopPromise<TLSSessionInfo>?
    /// Writes that wait for the handshake, or for the socket to accept earlier ciphertext.
    var pendingWrites = CircularBuffer<(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)>(initialCapacity: 1)
    var isEncryptingPending = false
    var writePromise: EventLoopPromise<Void>?
    var gathered = GatheredWrites()
    private var smallPlaintext = ByteBuffer()
    private var overhead = TLSOverhead()
    private let lateFailure: TLSLateFailure?

    /// Creates a handler; `promise` is completed when the handshake ends.
    ///
    /// `lateFailure` receives the server's report about the client certificate after the handshake. The judge is not
    /// asked if a session of `resumption` is resumed.
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
        guard !context.channel.isActive else { return begin(context) }
        // The channel was open, and has already closed.
        failHandshake(TransportError(.connectionClosed, "The server closed the connection before the TLS handshake."))
    }

    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let receiving = machine.receiving
        guard let connection, receiving != .ignore else { return }
        let bytes = unwrapInboundIn(data)
        connection.bio.feed(bytes)
        overhead.received(bytes.readableBytes)
        if receiving == .advanceHandshake { advanceHandshake(context) }
        if machine.isOpen { deliverPlaintext(context) }
        if overhead.isExcessive { refuseOverhead(context) }
    }

    /// Ends a connection if the server sends endless data without application data.
    private func refuseOverhead(_ context: ChannelHandlerContext) {
        if machine.isOpen {
            fail(
                context,
                TransportError(
                    .tlsProtocolError,
                    "The server sent more than \(TLSOverhead.most) bytes of TLS without application data."))
        } else if machine.phase == .handshaking {
            refuse(
                context,
                TransportError(
                    .tlsHandshakeFailed, "The server sent more than \(TLSOverhead.most) bytes in the TLS handshake."))
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // The handlers above do not read before the handshake is done. During an evaluation nothing is read, so that
        // the server cannot fill buffers.
        if machine.phase == .handshaking { context.read() }
        context.fireChannelReadComplete()
    }

    func channelInactive(context: ChannelHandlerContext) {
        switch machine.close() {
        case .handshake:
            completeHandshakePromise(
                failing: TransportError(
                    .connectionClosed, "The server closed the connection during the TLS handshake."))
        case .traffic(let traffic):
            noteMissingCertificate(traffic)
            context.fireUserInboundEventTriggered(TLSTruncated())
        case .nothing:
            break
        }
        release()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        failHandshake(TransportError(.connectionClosed, "The connection was closed."))
        _ = machine.close()
        release()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch machine.interruption {
        case .handshake:
            refuse(
                context,
                TransportError(
                    .connectionClosed,
                    "The connection broke during the TLS handshake: \(TransportError.reason(error)).", underlying: error
                ))
        case .traffic(let traffic):
            noteMissingCertificate(traffic)
            context.fireErrorCaught(error)
        case .nothing:
            context.fireErrorCaught(error)
        }
    }

    /// Records a missing client certificate if the server requested one and closes the connection instead of answering.
    /// It should send an alert, which the system may discard because of data that the client had sent.
    private func noteMissingCertificate(_ traffic: TLSStateMachine.Traffic) {
        guard traffic.isUnanswered, connection?.certificateRequest == .unanswered else { return }
        lateFailure?.note(.clientCertificateRequired(nil, nil))
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        switch event {
        case is ConnectionIsReused:
            connection?.keepBuffers()
        case is ConnectionRests:
            connection?.rest()
            gathered.rest()
            smallPlaintext = ByteBuffer()
        default:
            break
        }
        context.triggerUserOutboundEvent(event, promise: promise)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .input else { return context.close(mode: mode, promise: promise) }
        if machine.sending == .encrypt {
            encryptGathered(context)
            // Pending writes are sent before an orderly end. If bytes are missing, no close_notify is sent.
            if mode == .output { encryptPending(context, waitsForSocket: false) }
        }
        let saysCloseNotify = machine.closeOutput()
        if mode == .all {
            failHandshake(TransportError(.connectionClosed, "The connection was closed."))
            // Before anything is sent: an error of the socket closes the channel at once.
            _ = machine.close()
        }
        if saysCloseNotify {
            if pendingWrites.isEmpty { connection?.shutdown() }
            // Also after a failure, so that the server receives the alert.
            sendCiphertext(context)
        }
        if mode == .all { release() }
        context.close(mode: mode, promise: promise)
    }

    // MARK: Handshake

    /// Holds the handshake back until ``takeTurn(in:)``. Called before the handler is in a pipeline.
    func waitForTurn() {
        _ = machine.waitForTurn()
    }

    /// Begins the handshake that was held back, unless it has failed meanwhile.
    func takeTurn(in channel: any Channel) {
        guard machine.takeTurn(), channel.isActive,
            let context = try? channel.pipeline.syncOperations.context(handler: self)
        else { return }
        begin(context)
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard machine.start() else { return }
        do {
            connection = try makeConnection()
        } catch {
            return refuse(context, error)
        }
        advanceHandshake(context)
        context.read()
    }

    private func advanceHandshake(_ context: ChannelHandlerContext) {
        guard let connection else { return }
        let step = connection.handshake()
        sendCiphertext(context)
        // The channel may have closed.
        guard machine.phase == .handshaking else { return }
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
        guard machine.pause(for: .trust) else { return }
        let presented = connection.presented
        let handler = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // No promise, since an evaluator may outlive its event loop.
        deciding = Task(executorPreference: JudgeExecutor.shared) { [judge] in
            let decision = await judge(presented)
            handler.execute { $0.0.receive(decision, $0.1) }
        }
    }

    private func receive(_ decision: TrustDecision, _ context: ChannelHandlerContext) {
        // The channel may have closed meanwhile.
        guard machine.resume(with: .trust), let connection else { return }
        deciding = nil
        connection.receive(decision)
        goOn(context)
    }

    private func askForIdentity(_ context: ChannelHandlerContext, _ issuers: [String]) {
        guard let choose else {
            return refuse(
                context, TransportError(.tlsHandshakeFailed, "No function is configured to choose a client identity."))
        }
        guard machine.pause(for: .identity) else { return }
        let handler = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        deciding = Task(executorPreference: JudgeExecutor.shared) {
            let answer = await choose(issuers)
            handler.execute { $0.0.receive(answer, $0.1) }
        }
    }

    private func receive(_ answer: Result<ClientIdentity?, any Error>, _ context: ChannelHandlerContext) {
        guard machine.resume(with: .identity), let connection else { return }
        deciding = nil
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
        advanceHandshake(context)
        if machine.isOpen {
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
        guard machine.open() else { return }
        handshakePromise?.succeed(connection.session())
        handshakePromise = nil
        encryptPending(context)
        sendCiphertext(context)
    }

    private func refuse(_ context: ChannelHandlerContext, _ error: TransportError) {
        failHandshake(error)
        release()
        context.close(promise: nil)
    }

    /// Aborts the handshake unless it is complete.
    func abort(_ error: TransportError, channel: any Channel) {
        guard failHandshake(error) else { return }
        release()
        channel.close(promise: nil)
    }

    /// Returns false if the handshake is over.
    @discardableResult
    private func failHandshake(_ error: TransportError) -> Bool {
        guard machine.failHandshake() else { return false }
        completeHandshakePromise(failing: error)
        return true
    }

    private func completeHandshakePromise(failing error: TransportError) {
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
                machine.delivered()
                overhead.delivered(plaintext.readableBytes)
                context.fireChannelRead(wrapInboundOut(plaintext))
            }
        } while step.isFull && machine.isOpen
        switch step {
        case .bytes, .needsBytes, .full:
            break
        case .closed:
            guard machine.receivedCloseNotify() else { return }
            encryptGathered(context)
            // Answer with close_notify (RFC 8446, 6.1).
            connection.shutdown()
            sendCiphertext(context)
            context.close(promise: nil)
        case .failed(let errors):
            // TLS 1.3 servers check a client certificate after the client's handshake is complete.
            let refusal = machine.isOpen ? connection.certificateFailure(errors) : nil
            if let refusal { lateFailure?.note(refusal) }
            fail(
                context,
                refusal
                    ?? TransportError(.tlsProtocolError, "TLS failed: \(errors.summary).", underlying: errors.first))
        }
    }

    /// Ends an open connection with an error.
    private func fail(_ context: ChannelHandlerContext, _ error: TransportError) {
        guard machine.failTraffic() else { return }
        release()
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    /// Decrypts available bytes, small amounts into the connection's own memory and others into the event loop's.
    private func decrypt(_ connection: TLSConnection) -> (ByteBuffer, TLSConnection.ReadStep) {
        // The exact size: a full record fits into 16 KiB.
        let capacity = max(connection.bio.inboundBytes + connection.pendingBytes - Self.recordOverhead, 1_024)
        guard capacity <= Self.mostSmallBytes else {
            if connection.bio.inboundBytes >= Self.manyBytes { connection.keepBuffers() }
            return TLSPlaintextPool.current.buffer(capacity: capacity) { connection.read(into: &$0) }
        }
        // If the previous bytes are still referenced, their memory is not reused.
        smallPlaintext.clear(minimumCapacity: capacity)
        let step = connection.read(into: &smallPlaintext)
        return (smallPlaintext, step)
    }

    /// Cancels the decision and fails pending writes, after the connection ended or failed.
    private func release() {
        deciding?.cancel()
        deciding = nil
        while let write = pendingWrites.popFirst() { write.promise?.fail(ChannelError.ioOnClosedChannel) }
        gathered.takePromise()?.fail(ChannelError.ioOnClosedChannel)
        writePromise?.fail(ChannelError.ioOnClosedChannel)
        writePromise = nil
    }
}

/// Fired inbound before the channel becomes inactive if the peer closed the connection without close_notify: its last
/// data may be truncated (RFC 8446, 6.1).
struct TLSTruncated {}
