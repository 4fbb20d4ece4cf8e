internal import NIOCore

/// The deadlines of an exchange.
struct Deadlines {
    var request: NIODeadline?
    var read: NIODeadline?
    var write: NIODeadline?
    /// When the body is sent without a `100 Continue`.
    var proceed: NIODeadline?

    var next: NIODeadline? {
        let end = NIODeadline.distantFuture
        let earliest = min(min(request ?? end, read ?? end), min(write ?? end, proceed ?? end))
        return earliest == end ? nil : earliest
    }

    /// The code and message of the deadline that has passed; `proceed` is not an error.
    func expired(at now: NIODeadline) -> (code: TransportError.Code, message: String)? {
        if let request, request <= now { return (.requestTimeout, "The request exceeded its timeout.") }
        if let write, write <= now {
            return (.writeTimeout, "The server stopped accepting the request body within the idle timeout.")
        }
        if let read, read <= now { return (.readTimeout, "The server sent nothing within the idle timeout.") }
        return nil
    }
}

extension TimeAmount {
    /// Converts a duration to nanoseconds, clamped to about 292 years.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self = overflow ? .nanoseconds(.max) : .nanoseconds(nanoseconds &+ attoseconds / 1_000_000_000)
    }
}

extension NIODeadline {
    /// The time after a duration from now; more than 100 years is the distant future.
    static func after(_ duration: Duration, from now: NIODeadline = .now()) -> NIODeadline {
        let amount = TimeAmount(duration)
        guard amount.nanoseconds > 0 else { return now }
        return amount > .hours(24 * 365 * 100) ? .distantFuture : now + amount
    }
}

/// One timer for each connection, which is rescheduled when it fires early instead of for each request.
struct Watchdog {
    private var armed: (task: Scheduled<Void>, due: NIODeadline)?

    /// Makes sure that `fire` is called at that time or before.
    mutating func arm<Handler: AnyObject & SendableMetatype>(
        at due: NIODeadline?, on eventLoop: any EventLoop, _ handler: Handler,
        _ fire: @escaping @Sendable (Handler) -> Void
    ) {
        guard let due else { return }
        if let armed {
            guard due < armed.due else { return }
            armed.task.cancel()
        }
        let handler = NIOLoopBound(handler, eventLoop: eventLoop)
        armed = (eventLoop.scheduleTask(deadline: due) { fire(handler.value) }, due)
    }

    /// Records that the timer has fired.
    mutating func fired() {
        armed = nil
    }

    mutating func stop() {
        armed?.task.cancel()
        armed = nil
    }
}
