/// The phases of the client side of a TLS channel, and the effect of each event in each phase.
///
/// It knows neither OpenSSL nor the channel: ``TLSHandler`` passes the events in and acts on the results. An event that
/// is impossible in a phase changes nothing and says so, for example the end of an evaluation after the connection's.
struct TLSStateMachine {
    enum Phase: Equatable {
        /// The channel is not active yet.
        case idle
        /// Other handshakes have to end first.
        case waiting
        /// Handshake messages are exchanged.
        case handshaking
        /// The handshake waits for a decision that is made off the event loop.
        case paused(Decision)
        /// Application data is exchanged.
        case open(Traffic)
        /// The server's close_notify was answered; the channel is about to close.
        case closing
        /// The connection ended after its handshake.
        case closed
        /// The handshake, or TLS after it, failed.
        case failed
    }

    /// A decision that a handshake waits for.
    enum Decision: Equatable {
        /// Whether the server's chain is trusted.
        case trust
        /// The client identity to present.
        case identity
    }

    /// The application data of an open connection.
    struct Traffic: Equatable {
        var hasRead = false
        var hasWritten = false
        /// Whether close_notify was sent, after which the server may still send.
        var isOutputClosed = false

        /// Whether a server that requested a client certificate may have closed the connection because it is missing,
        /// instead of answering.
        var isUnanswered: Bool { hasWritten && !hasRead }
    }

    /// The action for received ciphertext.
    enum Receiving: Equatable {
        case advanceHandshake
        /// Keep it until the handshake goes on.
        case keep
        case decrypt
        case ignore
    }

    /// The action for plaintext to send.
    enum Sending: Equatable {
        /// Keep it until the end of the handshake.
        case keep
        case encrypt
        case refuse
    }

    /// The part of the connection that the end of the channel, or an error of its socket, interrupts.
    enum Interruption: Equatable {
        case handshake
        /// Application data, which may be truncated (RFC 8446, 6.1).
        case traffic(Traffic)
        case nothing
    }

    private(set) var phase = Phase.idle

    var isOpen: Bool { if case .open = phase { true } else { false } }

    /// Whether the handshake is neither complete nor failed.
    private var isBeforeOpen: Bool {
        switch phase {
        case .idle, .waiting, .handshaking, .paused: true
        case .open, .closing, .closed, .failed: false
        }
    }

    // MARK: Handshake

    /// Other handshakes have to end first. Returns false if this one has begun.
    mutating func waitForTurn() -> Bool {
        guard phase == .idle else { return false }
        phase = .waiting
        return true
    }

    /// The wait is over. Returns false if the handshake does not wait.
    mutating func takeTurn() -> Bool {
        guard phase == .waiting else { return false }
        phase = .idle
        return true
    }

    /// The channel is active. Returns whether the handshake begins now.
    mutating func start() -> Bool {
        guard phase == .idle else { return false }
        phase = .handshaking
        return true
    }

    /// A decision is needed. Returns false if no handshake is going on: the decision is not asked for.
    mutating func pause(for decision: Decision) -> Bool {
        guard phase == .handshaking else { return false }
        phase = .paused(decision)
        return true
    }

    /// A decision was made. Returns false if the handshake does not wait for this one: it is dropped.
    mutating func resume(with decision: Decision) -> Bool {
        guard phase == .paused(decision) else { return false }
        phase = .handshaking
        return true
    }

    /// The handshake is complete. Returns false without a running handshake, for example because a decision is missing:
    /// no application data is exchanged.
    mutating func open() -> Bool {
        guard phase == .handshaking else { return false }
        phase = .open(Traffic())
        return true
    }

    /// The handshake failed or took too long. Returns false if it is over.
    mutating func failHandshake() -> Bool {
        guard isBeforeOpen else { return false }
        phase = .failed
        return true
    }

    // MARK: Receiving

    /// The reaction to ciphertext.
    var receiving: Receiving {
        switch phase {
        case .handshaking: .advanceHandshake
        case .paused: .keep
        case .open: .decrypt
        case .idle, .waiting, .closing, .closed, .failed: .ignore
        }
    }

    /// Plaintext was delivered.
    mutating func delivered() {
        guard case .open(var traffic) = phase, !traffic.hasRead else { return }
        traffic.hasRead = true
        phase = .open(traffic)
    }

    /// The server sent close_notify. Returns whether it has to be answered.
    mutating func receivedCloseNotify() -> Bool {
        guard isOpen else { return false }
        phase = .closing
        return true
    }

    /// A record could not be decrypted, or the server sent an alert. Returns false if the connection has ended.
    mutating func failTraffic() -> Bool {
        guard isOpen else { return false }
        phase = .failed
        return true
    }

    // MARK: Sending

    /// The reaction to plaintext.
    var sending: Sending {
        switch phase {
        case .idle, .waiting, .handshaking, .paused: .keep
        case .open(let traffic): traffic.isOutputClosed ? .refuse : .encrypt
        case .closing, .closed, .failed: .refuse
        }
    }

    /// Plaintext was encrypted.
    mutating func encrypted() {
        guard case .open(var traffic) = phase, !traffic.hasWritten else { return }
        traffic.hasWritten = true
        phase = .open(traffic)
    }

    // MARK: The end

    /// The sending side is closed. Returns whether close_notify is due.
    mutating func closeOutput() -> Bool {
        guard case .open(var traffic) = phase, !traffic.isOutputClosed else { return false }
        traffic.isOutputClosed = true
        phase = .open(traffic)
        return true
    }

    /// The channel is closed, by either side.
    mutating func close() -> Interruption {
        let interruption = interruption
        switch phase {
        case .idle, .waiting, .handshaking, .paused: phase = .failed
        case .open, .closing: phase = .closed
        case .closed, .failed: break
        }
        return interruption
    }

    /// The part of the connection that an error of the socket interrupts. The channel is closed afterwards.
    var interruption: Interruption {
        switch phase {
        case .idle, .waiting, .handshaking, .paused: .handshake
        case .open(let traffic): .traffic(traffic)
        case .closing, .closed, .failed: .nothing
        }
    }
}
