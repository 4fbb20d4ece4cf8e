internal import COpenSSL
internal import FoundationEssentials
internal import LinnetSecurity

/// The TLS session resumption of a connection: the offered session, and the sessions kept for later connections.
///
/// Used on one event loop.
final class TLSResumption {
    private let cache: TLSSessionCache
    private let key: TLSSessionKey
    private var offer: TLSSessionCache.Machine.Offer?
    /// The connection's copy of the offer, only compared by address.
    private var offeredSession: OpaquePointer?
    /// When the chain was evaluated that the connection relies on.
    private var judged: Date?
    /// The number of bytes of the chain that the connection's session refers to.
    private var chainBytes = 0

    init(_ cache: TLSSessionCache, _ key: TLSSessionKey) {
        self.cache = cache
        self.key = key
    }

    /// Offers a session if there is one.
    func offerSession(on ssl: OpaquePointer) {
        guard let offer = cache.take(key), offer.ticket.session.offer(on: ssl) else { return }
        self.offer = offer
        offeredSession = SSL_get_session(ssl)
    }

    /// Called when the chain was evaluated: the server did not accept the offered session.
    func wasJudged(chainBytes: Int) {
        judged = cache.now()
        self.chainBytes = chainBytes
        forgetOffer()
    }

    /// The trust decision of the resumed session, if it is still valid.
    func resumedTrust() -> VerifiedTrust? {
        guard let ticket = offer?.ticket, ticket.isTrusted(at: cache.now()) else { return nil }
        judged = ticket.judged
        chainBytes = ticket.session.chainBytes
        return ticket.trust
    }

    /// Drops the offered session, since the handshake failed or was a full one.
    func forgetOffer() {
        if let offer { cache.discard(offer.number, key) }
        offer = nil
        offeredSession = nil
    }

    /// Keeps a TLS 1.3 ticket. A server may send several at any time after the handshake (RFC 8446, 4.6.1).
    func keepTicket(_ session: OpaquePointer, trust: VerifiedTrust) {
        // A TLS 1.2 session is kept once its handshake is complete and the decision final.
        guard Self.isTLS13(session) else { return }
        // A lifetime of 0 means that the ticket must be discarded.
        keep(session, lifetime: SSL_SESSION_get_ticket_lifetime_hint(session), isSingleUse: true, trust: trust)
    }

    /// Keeps the TLS 1.2 session of a full handshake, and a resumed one if its ticket was renewed.
    func keepSession(of ssl: OpaquePointer, trust: VerifiedTrust) {
        // Without the extended master secret the session is not bound to its handshake (RFC 7627, 5.4).
        guard let session = SSL_get_session(ssl), session != offeredSession, !Self.isTLS13(session),
            linnet_SSL_get_extms_support(ssl) == 1
        else { return }
        // A lifetime of 0 leaves it to the client (RFC 5077, 3.3), as does a session without a ticket.
        let hint = SSL_SESSION_get_ticket_lifetime_hint(session)
        let lifetime = hint > 0 ? hint : UInt(clamping: SSL_SESSION_get_timeout(session))
        keep(session, lifetime: lifetime, isSingleUse: false, trust: trust)
    }

    private func keep(_ session: OpaquePointer, lifetime: UInt, isSingleUse: Bool, trust: VerifiedTrust) {
        guard let judged, let copy = TLSSession(copying: session, chainBytes: chainBytes),
            let ticket = TLSSessionTicket(
                copy, lifetime: TimeInterval(lifetime), isSingleUse: isSingleUse, trust: trust, judged: judged,
                received: cache.now())
        else { return }
        cache.store(ticket, key)
    }

    private static func isTLS13(_ session: OpaquePointer) -> Bool {
        SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION
    }
}

/// An `SSL_SESSION` that is not used by a connection.
///
/// A copy, since OpenSSL marks a connection's own session as not resumable when the connection ends with an error, on
/// any thread.
final class TLSSession: Sendable {
    /// The maximum size of a session in bytes: its ticket, and the presented chain, which it refers to.
    ///
    /// The server chooses both. Tickets usually have less than a kilobyte, and chains less than eight; but a ticket may
    /// have 64 KiB (RFC 8446, 4.6.1), and OpenSSL takes chains of 100 KiB.
    static let mostBytes = 16 * 1024

    /// The number of bytes of the chain.
    let chainBytes: Int
    // SAFETY: not modified after init; duplicating only reads it, and OpenSSL counts references with atomics.
    nonisolated(unsafe) private let pointer: OpaquePointer

    /// Nil if the session is too large or cannot be resumed, or OpenSSL has no memory.
    init?(copying session: OpaquePointer, chainBytes: Int) {
        var ticketBytes = 0
        SSL_SESSION_get0_ticket(session, nil, &ticketBytes)
        guard ticketBytes + chainBytes <= Self.mostBytes else { return nil }
        guard let copy = SSL_SESSION_dup(session) else {
            OpenSSLErrorQueue.clear()
            return nil
        }
        guard SSL_SESSION_is_resumable(copy) == 1 else {
            SSL_SESSION_free(copy)
            return nil
        }
        pointer = copy
        self.chainBytes = chainBytes
    }

    deinit {
        SSL_SESSION_free(pointer)
    }

    /// Offers the session on a connection before its handshake. Returns false on failure.
    func offer(on ssl: OpaquePointer) -> Bool {
        guard let copy = SSL_SESSION_dup(pointer) else {
            OpenSSLErrorQueue.clear()
            return false
        }
        // The connection adds its own reference.
        defer { SSL_SESSION_free(copy) }
        OpenSSLErrorQueue.clear()
        return SSL_set_session(ssl, copy) == 1
    }
}

/// A resumable session with the trust decision of the full handshake that opened it.
///
/// A resumed handshake has no certificate, so trust depends on that decision alone: the ticket is not used once the
/// decision may have changed.
struct TLSSessionTicket<HTTPSession: Sendable>: Sendable {
    /// From RFC 5246, F.1.4, for TLS 1.2. RFC 8446, 4.6.1, allows seven days; a decision is not kept that long.
    static var longestLifetime: TimeInterval { 24 * 60 * 60 }

    let session: HTTPSession
    /// The trust decision.
    let trust: VerifiedTrust
    /// When the chain was evaluated, which is earlier than this ticket if the session was itself resumed.
    let judged: Date
    /// When the server stops accepting it, or a day after the evaluation.
    let expires: Date
    /// Whether it is offered only once, so that observers cannot link connections of the same client (RFC 8446, C.4).
    /// TLS 1.2 has no such rule, and its servers may send no second ticket.
    let isSingleUse: Bool

    /// Nil if the validity of the decision is unknown, or the ticket is already unusable.
    init?(
        _ session: HTTPSession, lifetime: TimeInterval, isSingleUse: Bool, trust: VerifiedTrust, judged: Date,
        received now: Date
    ) {
        self.session = session
        self.trust = trust
        self.judged = judged
        self.isSingleUse = isSingleUse
        expires = min(now.addingTimeInterval(lifetime), judged.addingTimeInterval(Self.longestLifetime))
        guard isUsable(at: now) else { return nil }
    }

    /// Whether the decision is valid and the server still accepts the ticket.
    func isUsable(at now: Date) -> Bool {
        now < expires && isTrusted(at: now)
    }

    /// Whether the decision is valid. It is not if the clock was set back before the evaluation.
    func isTrusted(at now: Date) -> Bool {
        guard let validUntil = trust.validUntil else { return false }
        return now >= judged && now < validUntil
    }
}
