/// The addresses of a host, and the time of their next look-up: a pure state machine.
struct HostState: Hashable, Sendable {
    private(set) var addresses: [NetworkDestination] = []
    /// Whether the last look-up found addresses; nil before the end of the first one.
    private(set) var isResolved: Bool?
    /// When to look the name up at the latest; nil while it is being looked up.
    private(set) var deadline: ContinuousClock.Instant?

    private let interval: Duration?
    private let isAddress: Bool
    /// Whether the network has changed since the last look-up began.
    private var isDue = true
    private var isLookingUp = false
    /// Whether another look-up must follow the current one.
    private var mustRepeat = false
    private var failures = 0

    /// Returns nil for a target that is not a host.
    init?(_ target: MonitorTarget, interval: Duration?) {
        guard case .host(let name, _) = target else { return nil }
        self.interval = interval.map { min(max($0, .seconds(1)), .seconds(86_400)) }
        let address = NetworkDestination(name)
        isAddress = address != nil
        guard let address else { return }
        addresses = [address]
        isResolved = true
    }

    mutating func noteChange() { isDue = true }

    /// Returns whether a look-up must start now: the network has changed, or the deadline has passed.
    mutating func takeRequest(at now: ContinuousClock.Instant) -> Bool {
        guard !isAddress, isDue || deadline.map({ $0 <= now }) ?? false else { return false }
        return request()
    }

    private mutating func request() -> Bool {
        isDue = false
        deadline = nil
        mustRepeat = isLookingUp
        defer { isLookingUp = true }
        return !isLookingUp
    }

    /// Takes the result of a look-up; nil is a failure. Returns whether another one must start now.
    ///
    /// A failed look-up is repeated after 1, 2, 4 seconds and so on, up to the interval.
    mutating func finish(_ found: [NetworkDestination]?, at now: ContinuousClock.Instant) -> Bool {
        isLookingUp = false
        let addresses = found ?? []
        isResolved = !addresses.isEmpty
        if addresses.isEmpty { failures += 1 } else { (self.addresses, failures) = (addresses, 0) }
        if mustRepeat { return request() }
        let delay = Duration.seconds(1 << min(max(failures - 1, 0), 8))
        let wait = failures == 0 ? interval : interval.map { min($0, delay) } ?? delay
        deadline = wait.map { now.advanced(by: $0) }
        return false
    }
}
