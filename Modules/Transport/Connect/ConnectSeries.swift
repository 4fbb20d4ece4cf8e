internal import NIOCore

/// The tries to open one connection, up to the one that is made now.
struct ConnectSeries: Sendable {
    let key: PoolKey
    let timeouts: TransportTimeouts
    /// Whether it is to live near the request that needs it.
    let nearCaller: Bool
    /// After this, it is not tried again.
    private let deadline: NIODeadline
    private(set) var failures = 0
    /// Where connections were opened that ended before they could be used.
    private(set) var tried: [SocketAddress] = []
    /// Why the last try failed.
    private(set) var error: TransportError?

    init(_ key: PoolKey, _ timeouts: TransportTimeouts, nearCaller: Bool) {
        self.key = key
        self.timeouts = timeouts
        self.nearCaller = nearCaller
        deadline = timeouts.connect.map { .after($0) } ?? .distantFuture
    }

    /// This try failed.
    mutating func failed(_ error: TransportError, at address: SocketAddress?) {
        failures += 1
        self.error = error
        if let address, !tried.contains(address) { tried.append(address) }
    }

    /// Whether there is time for another try.
    func hasTime(at now: NIODeadline) -> Bool { now < deadline }

    /// As long a try may connect: all of them together have the time of one.
    func connectTimeout(at now: NIODeadline) -> TimeAmount {
        deadline == .distantFuture ? .hours(24) : max(.nanoseconds(1), deadline - now)
    }
}
