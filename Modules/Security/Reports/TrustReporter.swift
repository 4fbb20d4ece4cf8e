public import FoundationEssentials
internal import Synchronization

/// Tells an observer what a policy refused, and what a ``ReportOnlyEvaluator`` found.
///
/// ```swift
/// let reporter = TrustReporter(limit: .onceADay) { report in queue.add(report) }
/// let policy = policy.reporting(to: reporter)
/// ```
///
/// The observer is called once for each report, on the task that judges the chain, before the handshake goes on: it must not
/// block. No lock is held.
public final class TrustReporter: Sendable {
    /// How often the same may be told.
    public enum Limit: Sendable, Hashable {
        /// Each time.
        case none
        /// Once in 24 hours. Reports are the same when they differ in nothing but their date. The last thousand are
        /// remembered, in memory alone.
        case onceADay
    }

    /// Called with each report.
    public typealias Observer = @Sendable (TrustReport) -> Void

    private let limit: Limit
    private let now: @Sendable () -> Date
    private let observer: Observer
    private let memory = Mutex(ReportMemory())

    /// Makes a reporter.
    ///
    /// - Parameters:
    ///   - limit: How often the same may be told. The default is each time.
    ///   - now: The clock for the limit. The default is the system's.
    ///   - observer: Who is told.
    public init(limit: Limit = .none, now: @escaping @Sendable () -> Date = { Date() }, observer: @escaping Observer) {
        self.limit = limit
        self.now = now
        self.observer = observer
    }

    /// Tells the observer, unless the limit forbids it; for evaluators of one's own, too.
    public func report(_ report: TrustReport) {
        if limit == .onceADay, let key = ReportMemory.key(report) {
            let date = now()
            guard memory.withLock({ $0.admit(key, at: date) }) else { return }
        }
        observer(report)
    }
}
