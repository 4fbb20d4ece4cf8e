internal import NIOCore

/// The points in time at which an exchange has taken too long.
struct Deadlines {
    var request: NIODeadline?
    var read: NIODeadline?
    var write: NIODeadline?
    /// When the body is sent though no `100 Continue` came.
    var proceed: NIODeadline?

    var next: NIODeadline? {
        let end = NIODeadline.distantFuture
        let earliest = min(min(request ?? end, read ?? end), min(write ?? end, proceed ?? end))
        return earliest == end ? nil : earliest
    }

    /// Which limit has passed, as an error code; `proceed` is none.
    func expired(at now: NIODeadline) -> (code: TransportError.Code, message: String)? {
        if let request, request <= now { return (.requestTimeout, "The request took longer than its timeout.") }
        if let write, write <= now { return (.writeTimeout, "The server stopped taking the request's body.") }
        if let read, read <= now { return (.readTimeout, "The server sent nothing for too long.") }
        return nil
    }
}

extension TimeAmount {
    /// A duration, to the nanosecond; more than 292 years are 292 years.
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (nanoseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self = overflow ? .nanoseconds(.max) : .nanoseconds(nanoseconds &+ attoseconds / 1_000_000_000)
    }
}

extension NIODeadline {
    /// That long from now; an unthinkably long time is the distant future.
    static func after(_ duration: Duration) -> NIODeadline {
        let amount = TimeAmount(duration)
        guard amount.nanoseconds > 0 else { return .now() }
        let now = NIODeadline.now()
        return amount > .hours(24 * 365 * 100) ? .distantFuture : now + amount
    }
}
