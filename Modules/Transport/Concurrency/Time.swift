internal import NIOCore

#if canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A time on the clock of `ContinuousClock`, in nanoseconds since the machine started.
///
/// The layout of `ContinuousClock.Instant` is known only at run time, so copying an optional one takes function calls.
/// Metrics and the context of a request are copied often, and store this type instead.
package struct Tick: Hashable, Comparable, Sendable {
    /// Never zero; zero stands for nil in ``OptionalTick``.
    let nanoseconds: Int64

    /// The time before all others.
    static let earliest = Tick(nanoseconds: .min)

    package static var now: Tick {
        var time = timespec()
        // The clock that `ContinuousClock` reads on Linux, which goes on while the machine sleeps.
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Tick(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// The same moment on both clocks.
    private static let (instantOfOrigin, origin) = (ContinuousClock.now, Tick.now)

    init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package init(_ instant: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (instant - Self.instantOfOrigin).components
        self.init(nanoseconds: Self.origin.nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    package var instant: ContinuousClock.Instant {
        Self.instantOfOrigin.advanced(by: .nanoseconds(nanoseconds - Self.origin.nanoseconds))
    }
}

extension Tick {
    /// The time after a duration from now, clamped to about 292 years; now for a duration that is not positive.
    package static func after(_ duration: Duration) -> Tick {
        guard duration > .zero else { return .now }
        let (sum, overflow) = Tick.now.nanoseconds.addingReportingOverflow(TimeAmount(duration).nanoseconds)
        return Tick(nanoseconds: overflow ? .max : sum)
    }

    /// The time from now on; negative in the past.
    package var timeLeft: Duration { .nanoseconds(nanoseconds - Tick.now.nanoseconds) }

    package static func < (left: Tick, right: Tick) -> Bool { left.nanoseconds < right.nanoseconds }
}

/// An optional tick of the size of a tick.
struct OptionalTick: Hashable, Sendable {
    private var nanoseconds: Int64 = 0

    var tick: Tick? {
        get { nanoseconds == 0 ? nil : Tick(nanoseconds: nanoseconds) }
        set { nanoseconds = newValue?.nanoseconds ?? 0 }
    }

    var instant: ContinuousClock.Instant? {
        get { tick?.instant }
        set { tick = newValue.map { Tick($0) } }
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
