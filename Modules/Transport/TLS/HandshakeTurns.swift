internal import NIOCore

/// Begins the TLS handshakes of an event loop in the order of a ``HandshakeQueue``.
///
/// Used on the event loop.
final class HandshakeTurns {
    private struct Waiter {
        let handler: TLSHandler
        let channel: any Channel
    }

    private let eventLoop: any EventLoop
    private var queue: HandshakeQueue<Waiter>
    private var hasTimer = false

    init(_ limit: HandshakeLimit, on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        queue = HandshakeQueue(limit)
    }

    /// Adds a handshake, whose handler is not in the pipeline yet. Returns its ticket for ``leave(_:)``.
    func enter(_ handler: TLSHandler, _ channel: any Channel) -> UInt64 {
        let (ticket, begins) = queue.enter(Waiter(handler: handler, channel: channel), now: eventLoop.now)
        if !begins {
            handler.waitForTurn()
            setTimer()
        }
        return ticket
    }

    /// Called once a handshake has ended, whether it had begun or not.
    func leave(_ ticket: UInt64) {
        if let next = queue.leave(ticket, now: eventLoop.now) { begin(next) }
    }

    private func begin(_ waiter: Waiter) {
        // In a turn of its own: a handshake that fails at once calls `leave`, which begins the next one.
        eventLoop.assumeIsolated().execute { waiter.handler.takeTurn(in: waiter.channel) }
    }

    private func setTimer() {
        guard !hasTimer, let end = queue.nextEnd else { return }
        hasTimer = true
        eventLoop.assumeIsolated().scheduleTask(deadline: end) { [self] in
            hasTimer = false
            for waiter in queue.expire(now: eventLoop.now) { begin(waiter) }
            setTimer()
        }
    }
}
