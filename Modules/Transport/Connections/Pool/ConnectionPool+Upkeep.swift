internal import LinnetSecurity
internal import NIOCore
internal import Synchronization

extension ConnectionPool {
    func expireIdle() {
        change { state in
            state.idleTimer = nil
            idleTimerDue.store(.max, ordering: .releasing)
        }
        let now = now
        var next: NIODeadline?
        for shard in shards {
            let (expired, resting, due) = shard.expire(now: now, idleTime: idleTimeout, restTime: Self.restTime)
            for connection in expired { connection.close(.evicted) }
            for connection in resting { connection.rest() }
            if let due { next = min(next ?? due, due) }
        }
        if let next { armIdleTimer(at: next) }
    }

    /// Drops cached addresses.
    func clearResolvedNames() {
        connector.clearResolvedNames()
    }

    func closeIdle() {
        for shard in shards {
            for connection in shard.takeUnused() { connection.close(.evicted) }
        }
    }

    /// Closes idle connections of the same key as one that turned out to be closed. The pool uses the most recently
    /// used connection first, so the others have been idle for longer, and the server has closed them too or is about
    /// to.
    func closeIdle(like connection: HTTPConnection, since start: Tick) {
        // The shards have the time of the event loops, and a request has the time of `ContinuousClock`.
        let begin = now - .nanoseconds(Tick.now.nanoseconds - start.nanoseconds)
        for shard in shards {
            for idle in shard.takeUnused(of: connection.key, since: begin) { idle.close(.retired) }
        }
    }

    /// Stops using all open connections: idle ones are closed now, the others after their exchanges.
    func retireConnections() {
        // Marked before idle ones are closed, so that a connection that is returned meanwhile is not kept.
        let open = change { Array($0.open.values) }
        for connection in open { connection.retire() }
        closeIdle()
    }

    /// Replaces the client identities after OpenSSL has accepted them.
    func replaceIdentities(_ identities: ClientIdentityPolicy) throws(TransportError) {
        try connector.require(identities)
        replaceTerms { $0.replacing(nil, identities) }
    }

    /// Replaces the terms. Connections made under different terms serve no further request.
    func replaceTerms(_ replacement: @escaping @Sendable (ConnectionTerms) -> ConnectionTerms) {
        let (waiters, terms, former) = change { state in
            let former = state.terms
            let terms = replacement(former)
            state.terms = terms
            let ids = state.machine.retire { !$0.isValid(under: terms) }
            return (ids.compactMap { state.removeWaiter($0) }, terms, former)
        }
        // Sessions stand for decisions of the former policy.
        connector.forgetTLSSessions()
        for shard in shards {
            for connection in shard.replaceTerms(terms) { connection.close(.retired) }
        }
        // After the shards have the new terms, under which these requests look for a connection again.
        for waiter in waiters { waiter.resume(.askAgain) }
        // Released after all locks, here and of the shards: an object that only the former policy holds may end a
        // request when it is released.
        withExtendedLifetime(former) {}
    }

    /// Shuts the pool down and returns when its last connection has closed.
    func shutDown(_ mode: ShutdownMode) async {
        let (timer, open, attempts, waiters) = change { state in
            state.isShutDown = true
            let timer = state.idleTimer
            guard mode == .immediate else { return (timer, [HTTPConnection](), [ConnectAttempt](), [Waiter]()) }
            let waiters = state.waiters.keys.sorted().compactMap { state.removeWaiter($0, cancelling: true) }
            return (timer, Array(state.open.values), Array(state.attempts.values), waiters)
        }
        // The event loop, which may be shared, would otherwise hold it until it is due.
        timer?.cancel()
        for connection in shards.flatMap({ $0.shutDown() }) + open { connection.close(.shutDown) }
        for attempt in attempts { attempt.abort() }
        for waiter in waiters { waiter.resume(.failed(.shutDown)) }
        await withUnsafeContinuation { continuation in
            change { $0.drained.append(continuation) }
            resumeIfDrained()
        }
    }

    func resumeIfDrained() {
        let (drained, timer) = change { state -> ([UnsafeContinuation<Void, Never>], Scheduled<Void>?) in
            guard state.isDrained else { return ([], nil) }
            defer { (state.drained, state.timer) = ([], nil) }
            return (state.drained, state.timer)
        }
        timer?.cancel()
        for continuation in drained { continuation.resume() }
    }
}
