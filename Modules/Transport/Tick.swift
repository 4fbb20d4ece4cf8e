#if canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A point in time on the clock of `ContinuousClock`, in nanoseconds since the machine's start.
///
/// `ContinuousClock.Instant` is laid out by the runtime only when the program runs, so that each copy of one that is
/// optional takes calls; metrics, which are copied often, keep this instead.
struct Tick: Hashable, Sendable {
    /// Never zero, so that zero can stand for none.
    let nanoseconds: Int64

    static var now: Tick {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Tick(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// One moment on both clocks.
    private static let (instantOfOrigin, origin) = (ContinuousClock.now, Tick.now)

    init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    init(_ instant: ContinuousClock.Instant) {
        let (seconds, attoseconds) = (instant - Self.instantOfOrigin).components
        self.init(nanoseconds: Self.origin.nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    var instant: ContinuousClock.Instant {
        Self.instantOfOrigin.advanced(by: .nanoseconds(nanoseconds - Self.origin.nanoseconds))
    }
}

/// A tick or none, in the room of one.
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
