internal import LinnetTransport
internal import Synchronization

/// Limits the retries of a session to a share of its requests, so that the retries of many clients do not keep a server
/// down that cannot serve even the requests.
///
/// ```swift
/// let session = try HTTPSession {
///     $0.retryPolicy = .limited(to: 3)
///     $0.retryBudget = RetryBudget(share: 0.1, minimumPerSecond: 5)
/// }
/// ```
/// The budget counts the requests and retries of the last ten seconds, to all origins. A retry that it does not allow
/// is not made: the request has the response or the error of its last attempt. It limits all retries, by the policy of
/// the session or a call, by retriers and by hooks. The repetitions that are no retries do not count: redirects,
/// answers to challenges, renewed credentials, and the one after a reused connection ended.
public struct RetryBudget: Sendable, Hashable {
    /// The number of retries for each request: from 0, for none but ``minimumPerSecond``, to any number. The default is
    /// 0.1, a tenth of the requests.
    public var share: Double
    /// The number of retries that are allowed in each second in addition, so that a session with few requests can retry
    /// at all. The default is 5.
    public var minimumPerSecond: Int

    /// Creates a budget. A session refuses a negative value, and a share that is not finite, with
    /// ``SessionError/Code/invalidConfiguration``.
    public init(share: Double = 0.1, minimumPerSecond: Int = 5) {
        self.share = share
        self.minimumPerSecond = minimumPerSecond
    }

    func check() throws(SessionError) {
        guard share.isFinite, share >= 0, minimumPerSecond >= 0 else {
            throw SessionError(
                .invalidConfiguration, "The retry budget must not be negative, and its share must be finite.")
        }
    }
}

/// The requests and retries of a session within the window of its budget.
struct RetryWindow {
    let budget: RetryBudget
    private var counts = RecentCounts()

    init(_ budget: RetryBudget) { self.budget = budget }

    /// Counts a request.
    mutating func begin(at second: Int64) { counts.add(all: 1, at: second) }

    /// Whether a retry is within the budget; if so, it is counted.
    mutating func takeRetry(at second: Int64) -> Bool {
        let (requests, retries) = counts.sums(at: second)
        // Floating point cannot overflow for any value of a caller.
        let allowed = Double(requests) * budget.share + Double(budget.minimumPerSecond) * Double(RecentCounts.window)
        guard Double(retries) + 1 <= allowed else { return false }
        counts.add(some: 1, at: second)
        return true
    }
}

/// The window of a session, which all its requests share.
final class RetryLedger: Sendable {
    private let window: Mutex<RetryWindow>
    private let start = Tick.now

    init(_ budget: RetryBudget) { window = Mutex(RetryWindow(budget)) }

    func begin() {
        let second = second
        window.withLock { $0.begin(at: second) }
    }

    func takeRetry() -> Bool {
        let second = second
        return window.withLock { $0.takeRetry(at: second) }
    }

    private var second: Int64 { max(0, (.zero - start.timeLeft).components.seconds) }
}
