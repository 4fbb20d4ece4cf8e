internal import FoundationEssentials
internal import LinnetSecurity
package import NIOCore

/// TLS on a channel: ciphertext below, plaintext above.
///
/// A client's handler asks its judge for a verdict on the server's chain. Judging runs in a task of its own; until it
/// is done the handshake stands still, and the event loop goes on with other channels.
package final class TLSHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    typealias Judge =
        @Sendable (
            _ chain: [Data], _ stapledOCSPResponse: Data?, _ awaitsStaple: Bool
        ) async -> TrustDecision

    /// Chooses whom the client shows itself to be, from the authorities that the server takes.
    typealias Chooser = @Sendable (_ acceptableIssuers: [String]) async -> Result<ClientIdentity?, any Error>

    /// What a record has beside its content at least: its head (RFC 8446, 5.1), the tag and the content's type.
    private static let recordOverhead = 22
    /// The most memory that a connection keeps for what it reads.
    private static let mostSmallBytes = 4_096

    private let makeConnection: () throws(TransportError) -> TLSConnection
    private let judge: Judge?
    private let choose: Chooser?
    var connection: TLSConnection?
    var state = TLSHandlerState.idle
    private var judging: Task<Void, Never>?
    private var handshakePromise: EventLoopPromise<TLSSessionInfo>?
    /// What waits to be encrypted: for the handshake's end, or for the socket to take what was encrypted before.
    var pendingWrites = CircularBuffer<(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)>()
    var isEncryptingPending = false
    var writePromise: EventLoopPromise<Void>?
    var gathered = GatheredWrites()
    private var smallPlaintext = ByteBuffer()
    private var heardCloseNotify = false
    private var saysCloseNotify = true
    private var hasRead = false
    var hasWritten = false
    private let lateFailure: TLSLateFailure?

    /// A server's side.
    package init(server context: TLSServerContext) {
        makeConnection = { () throws(TransportError) in try TLSConnection(server: context) }
        (judge, choose) = (nil, nil)
        lateFailure = nil
    }

    /// A client's side; `promise` is completed when the handshake ends, well or not.
    ///
    /// What the server says of the client's certificate once the handshake is over goes to `lateFailure`, too. The judge is
    /// not asked when the server resumes a session that `resumption` has from an earlier connection.
    init(
        client context: TLSClientContext, serverName: String?, applicationProtocols: [String]? = nil,
        resumption: TLSResumption? = nil, identity: ClientIdentity? = nil, lateFailure: TLSLateFailure? = nil,
        promise: EventLoopPromise<TLSSessionInfo>, choose: Chooser? = nil, judge: @escaping Judge
    ) {
        makeConnection = { () throws(TransportError) in
            try TLSConnection(
                client: context, serverName: serverName, applicationProtocols: applicationProtocols,
                resumption: resumption, identity: identity, asksForIdentity: choose != nil)
        }
        handshakePromise = promise
        self.judge = judge
        self.choose = choose
        self.lateFailure = lateFailure
    }

    // MARK: Channel events

    package func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive {
            begin(context)
        } else if handshakePromise != nil {
            // A client's channel is open when the handler joins it: this one has gone already.
            failHandshake(TransportError(.connectionClosed, "The server ended the connection before TLS began."))
        }
    }

    package func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let connection, state != .closed else { return }
        connection.bio.feed(unwrapInboundIn(data))
        if state == .handshaking { advanceHandshake(context) }
        if state == .active { deliverPlaintext(context) }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        // Nobody above asks for bytes before the handshake is done. While a verdict is due nobody reads: a server gets
        // no room to fill meanwhile.
        if case .handshaking = state { context.read() }
        context.fireChannelReadComplete()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        switch state {
        case .idle, .handshaking, .awaitingVerdict, .awaitingIdentity:
            failHandshake(
                TransportError(.connectionClosed, "The server ended the connection during the TLS handshake."))
        case .active where !heardCloseNotify:
            noteMissingCertificate()
            context.fireUserInboundEventTriggered(TLSTruncated())
        case .active, .closing, .closed:
            break
        }
        end()
        context.fireChannelInactive()
    }

    package func handlerRemoved(context: ChannelHandlerContext) {
        failHandshake(TransportError(.connectionClosed, "The connection was closed."))
        end()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
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

    /// The server asked for a certificate, got none, and ends the connection instead of an answer. It owes an alert then; what
    /// the client had sent meanwhile can make the system throw that away.
    private func noteMissingCertificate() {
        guard state == .active, let connection, hasWritten, !hasRead else { return }
        guard connection.certificateRequest == .unanswered else { return }
        lateFailure?.note(.clientCertificateRequired(nil, nil))
    }

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode != .input else { return context.close(mode: mode, promise: promise) }
        if state == .active || (state == .closing && mode == .all) {
            encryptGathered(context)
            // What waits still is sent before an end in order; after bytes that are missing nothing says that it is one.
            if mode == .output { encryptPending(context, waitsForSocket: false) }
            if state == .active && saysCloseNotify && pendingWrites.isEmpty { connection?.shutdown() }
            sendCiphertext(context)
        }
        if mode == .all {
            failHandshake(TransportError(.connectionClosed, "The connection was closed."))
            end()
        }
        context.close(mode: mode, promise: promise)
    }

    package func triggerUserOutboundEvent(
        context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
        if event is TLSAbandon {
            saysCloseNotify = false
            promise?.succeed()
        } else {
            context.triggerUserOutboundEvent(event, promise: promise)
        }
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
        guard let judge else {
            return refuse(context, TransportError(.tlsHandshakeFailed, "Nobody is there to judge the peer's chain."))
        }
        state = .awaitingVerdict
        let (chain, staple) = (connection.presentedChain, connection.stapledOCSPResponse)
        let awaitsStaple = connection.awaitsStaple
        let handler = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        // No promise: an evaluator that outlives its event loop must not break one.
        judging = Task(executorPreference: JudgeExecutor.shared) {
            let decision = await judge(chain, staple, awaitsStaple)
            handler.execute { $0.0.receive(decision, $0.1) }
        }
    }

    private func receive(_ decision: TrustDecision, _ context: ChannelHandlerContext) {
        // The channel may have gone in the meantime.
        guard case .awaitingVerdict = state, let connection else { return }
        judging = nil
        connection.receive(decision)
        goOn(context)
    }

    private func askForIdentity(_ context: ChannelHandlerContext, _ issuers: [String]) {
        guard let choose else {
            return refuse(context, TransportError(.tlsHandshakeFailed, "Nobody is there to choose an identity."))
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

    /// What the handshake stood still for is there.
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
        // Nothing that the application says has been sent.
        if connection.owesAnotherVerdict() { return askForVerdict(context, connection) }
        // OpenSSL completed without our word: never let that pass.
        guard judge == nil || connection.confirmTrust() else {
            guard case .refused = connection.verdict else {
                return refuse(context, TransportError(.tlsHandshakeFailed, "No verdict on the server's chain holds."))
            }
            return refuse(context, handshakeError(connection, []))
        }
        state = .active
        let info = connection.session()
        context.fireUserInboundEventTriggered(
            TLSHandshakeCompleted(
                version: info.version, cipher: info.cipher, applicationProtocol: info.applicationProtocol,
                serverName: info.serverName, clientCertificate: connection.clientCertificate))
        handshakePromise?.succeed(info)
        handshakePromise = nil
        encryptPending(context)
        sendCiphertext(context)
    }

    private func refuse(_ context: ChannelHandlerContext, _ error: TransportError) {
        failHandshake(error)
        end()
        context.close(promise: nil)
    }

    /// Gives the handshake up, unless it is over.
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
            // Reading can make OpenSSL answer, to a key update for one.
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
            // The peer is owed the same word (RFC 8446, 6.1).
            if saysCloseNotify { connection.shutdown() }
            sendCiphertext(context)
            state = .closing
            context.close(promise: nil)
        case .failed(let errors):
            guard state == .active else { return }
            end()
            // TLS 1.3 servers judge a client's certificate when the client's handshake is complete already.
            let refusal = connection.certificateFailure(errors)
            if let refusal { lateFailure?.note(refusal) }
            context.fireErrorCaught(
                refusal
                    ?? TransportError(.tlsProtocolError, "TLS failed: \(errors.summary).", underlying: errors.first))
            context.close(promise: nil)
        }
    }

    /// Deciphers what is there: into the connection's own memory when it is little, the event loop's otherwise.
    private func decrypt(_ connection: TLSConnection) -> (ByteBuffer, TLSConnection.ReadStep) {
        // No more than there is: a full record fits exactly into 16 KiB.
        let capacity = max(connection.bio.inboundBytes + connection.pendingBytes - Self.recordOverhead, 1_024)
        guard capacity <= Self.mostSmallBytes else {
            return TLSPlaintextPool.current.buffer(capacity: capacity) { connection.read(into: &$0) }
        }
        // Copies nothing: whoever still has the last bytes keeps their memory.
        smallPlaintext.clear(minimumCapacity: capacity)
        let step = connection.read(into: &smallPlaintext)
        return (smallPlaintext, step)
    }

    /// Nothing goes in or out any more; whoever waits for a write hears of it.
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
