internal import LinnetSession

/// The changes of a transfer. A store applies each of them to the row that it has locked, with its own time, and writes
/// the result if it changed.
extension StoredTransfer {
    /// How often an interrupted upload is created again, if its options do not say.
    private static let recreations = 3

    /// Takes an ended lease away, or fails a waiting transfer that has expired; returns whether it changed.
    package mutating func lapse(at now: Int64) -> Bool {
        let isDue =
            switch machine.state {
            case .waiting: expiryTime <= now
            case .running: (leaseEnd ?? .min) <= now
            case .paused, .completed, .failed, .cancelled: false
            }
        return isDue && apply(expiryTime <= now ? .expire : .interrupt, at: now)
    }

    /// Gives the transfer to a worker; returns nil if it cannot begin now.
    package mutating func lease(by worker: String, for duration: Int64, at now: Int64) -> TransferLease? {
        guard readyAt <= now, expiryTime > now, apply(.start, at: now) else { return nil }
        // Another worker may have noted a file that it was about to move.
        result.placing = nil
        self.worker = worker
        leaseEnd = now + duration
        return TransferLease(transfer: self)
    }

    /// Renews a lease. A transfer that is not the worker's any more is left as it is; one that has expired fails.
    package mutating func renew(
        _ renewal: TransferLease.Renewal, for duration: Int64, at now: Int64
    ) -> TransferLease.Status {
        guard isHeld(by: renewal.lease) else { return .lost }
        guard expiryTime > now else {
            _ = apply(.expire, at: now)
            return .lost
        }
        leaseEnd = now + duration
        if let result = renewal.result { self.result = result }
        if let progress = renewal.progress {
            result.received = progress.completed
            result.total = progress.total ?? result.total
        }
        return switch machine.wish {
        case nil: .held
        case .pause: .pauseRequested
        case .cancel: .cancelRequested
        }
    }

    /// Ends a lease; returns whether the transfer changed.
    ///
    /// - Throws: ``BackgroundError/Code/leaseLost``.
    package mutating func end(
        _ lease: TransferLease, with end: TransferLease.End, at now: Int64
    ) throws(BackgroundError) -> Bool {
        guard isHeld(by: lease) else {
            // The answer to the first call may have been lost.
            if case .succeed = end.event, state == .completed, attempts == lease.fencingNumber { return false }
            throw .leaseLost(id)
        }
        var event = end.event
        if case .interrupt = event, expiryTime <= now { event = .expire }
        if let result = end.result { self.result = result }
        result.placing = nil
        return apply(event, at: now)
    }

    /// The effect of a control on a transfer.
    package enum Effect: Sendable {
        case none, changed, removed
    }

    package mutating func apply(_ control: TransferControl, at now: Int64) -> Effect {
        let event: TaskMachine.Event
        switch control {
        case .pause: event = .pause
        case .resume: event = .resume
        case .cancel: event = .cancel
        case .remove: return state.isEnd ? .removed : .none
        case .retry:
            event = .retry
            if state.isEnd { expiryTime = max(expiryTime, now + definition.timeout) }
        }
        return apply(event, at: now) ? .changed : .none
    }

    /// Whether a lease is the last one, and has not been taken away. The attempts are never counted again from the
    /// beginning, so their number is the fencing number.
    private func isHeld(by lease: TransferLease) -> Bool {
        machine.state == .running && machine.attempts == lease.fencingNumber
    }

    private mutating func apply(_ event: TaskMachine.Event, at now: Int64) -> Bool {
        guard machine.apply(event, at: now, definition.rules(recreations: Self.recreations)) else { return false }
        if machine.state != .running { (worker, leaseEnd) = (nil, nil) }
        return true
    }
}
