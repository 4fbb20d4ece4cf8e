internal import COpenSSL
internal import FoundationEssentials
internal import LinnetSecurity

/// A connection's part in resuming TLS sessions: what it offers, and what it keeps for those after it.
///
/// Belongs to one event loop.
final class TLSResumption {
    private let cache: TLSSessionCache
    private let key: TLSSessionKey
    private var offer: TLSSessionCache.Machine.Offer?
    /// What the connection made of the offer; compared and never looked into.
    private var offeredSession: OpaquePointer?
    /// When the chain was judged on whose verdict the connection rests.
    private var judged: Date?

    init(_ cache: TLSSessionCache, _ key: TLSSessionKey) {
        self.cache = cache
        self.key = key
    }

    /// Offers a session to the server, if there is one.
    func offerSession(on ssl: OpaquePointer) {
        guard let offer = cache.take(key), offer.ticket.session.offer(on: ssl) else { return }
        self.offer = offer
        offeredSession = SSL_get_session(ssl)
    }

    /// The server's chain was presented and judged: a session that was offered was not taken.
    func wasJudged() {
        judged = cache.now()
        forgetOffer()
    }

    /// The server resumed the session that was offered: the verdict on which it rests, if that still holds.
    func resumedTrust() -> VerifiedTrust? {
        guard let ticket = offer?.ticket, ticket.isTrusted(at: cache.now()) else { return nil }
        judged = ticket.judged
        return ticket.trust
    }

    /// The handshake failed, or was a full one: another connection shall not offer the same.
    func forgetOffer() {
        if let offer { cache.discard(offer.number, key) }
        offer = nil
        offeredSession = nil
    }

    /// Keeps a ticket of TLS 1.3, of which a server may send several at any time after the handshake (RFC 8446, 4.6.1).
    func keepTicket(_ session: OpaquePointer, trust: VerifiedTrust) {
        guard Self.isTLS13(session) else { return }
        // A lifetime of 0 means that the ticket is to be thrown away.
        keep(session, lifetime: SSL_SESSION_get_ticket_lifetime_hint(session), isSingleUse: true, trust: trust)
    }

    /// Keeps the session of TLS 1.2 that the handshake opened, and one that was resumed if its ticket was renewed.
    func keepSession(of ssl: OpaquePointer, trust: VerifiedTrust) {
        // Without the extended master secret such a session is not bound to its handshake (RFC 7627, 5.4).
        guard let session = SSL_get_session(ssl), session != offeredSession, !Self.isTLS13(session),
            linnet_SSL_get_extms_support(ssl) == 1
        else { return }
        // A lifetime of 0 leaves it to the client (RFC 5077, 3.3), as a session without a ticket does.
        let hint = SSL_SESSION_get_ticket_lifetime_hint(session)
        let lifetime = hint > 0 ? hint : UInt(clamping: SSL_SESSION_get_timeout(session))
        keep(session, lifetime: lifetime, isSingleUse: false, trust: trust)
    }

    private func keep(_ session: OpaquePointer, lifetime: UInt, isSingleUse: Bool, trust: VerifiedTrust) {
        guard let judged, let copy = TLSSession(copying: session),
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
