internal import FoundationEssentials
internal import LinnetSecurity

/// A session that a server is ready to resume, with the verdict on the chain that it presented when it was opened.
///
/// A resumed handshake shows no certificate, so the verdict is the only thing that says whom the client talks to: a
/// ticket is of no use from the moment at which the verdict might be another.
struct TLSSessionTicket<Session: Sendable>: Sendable {
    /// RFC 5246, F.1.4, for TLS 1.2. RFC 8446, 4.6.1, lets servers ask for seven days; a verdict is not kept that long.
    static var longestLifetime: TimeInterval { 24 * 60 * 60 }

    let session: Session
    /// The verdict on the server's chain.
    let trust: VerifiedTrust
    /// When the chain was judged; not the same as when this ticket came, if the session was itself resumed.
    let judged: Date
    /// When the server stops taking it, or a day after the judging.
    let expires: Date
    /// Whether it is offered once alone, so that nobody on the way can tell that two connections are the same client's
    /// (RFC 8446, C.4). TLS 1.2 has no such rule, and its servers may send no other.
    let isSingleUse: Bool

    /// Nil when the verdict does not say how long it holds, or the ticket is of no use already.
    init?(
        _ session: Session, lifetime: TimeInterval, isSingleUse: Bool, trust: VerifiedTrust, judged: Date,
        received now: Date
    ) {
        self.session = session
        self.trust = trust
        self.judged = judged
        self.isSingleUse = isSingleUse
        expires = min(now.addingTimeInterval(lifetime), judged.addingTimeInterval(Self.longestLifetime))
        guard isUsable(at: now) else { return nil }
    }

    /// Whether the verdict holds, and the server still takes the ticket.
    func isUsable(at now: Date) -> Bool {
        now < expires && isTrusted(at: now)
    }

    /// Whether the verdict holds. A clock that was set back before the judging proves nothing.
    func isTrusted(at now: Date) -> Bool {
        guard let validUntil = trust.validUntil else { return false }
        return now >= judged && now < validUntil
    }
}
