public import FoundationEssentials
internal import Synchronization

/// Delivers a policy's refusals, and the findings of report-only evaluators, to an observer.
///
/// ```swift
/// let reporter = TrustReporter(limit: .onceADay) { report in queue.add(report) }
/// let policy = policy.reporting(to: reporter)
/// ```
///
/// The observer is called once for each report, on the task that evaluates the chain and before the handshake
/// continues: it must not block. No lock is held.
public final class TrustReporter: Sendable {
    /// How often equal reports are delivered.
    public enum Limit: Sendable, Hashable {
        /// Every time.
        case none
        /// Once in 24 hours. Reports are equal if they differ only in their date. The last thousand are remembered, in
        /// memory only.
        case onceADay
    }

    /// Called with each report.
    public typealias Observer = @Sendable (TrustReport) -> Void

    private let limit: Limit
    private let now: @Sendable () -> Date
    private let observer: Observer
    private let memory = Mutex(ReportMemory())

    /// Creates a reporter.
    ///
    /// - Parameters:
    ///   - limit: How often equal reports are delivered. The default is every time.
    ///   - now: The clock for the limit. The default is the system's.
    ///   - observer: Receives the reports.
    public init(limit: Limit = .none, now: @escaping @Sendable () -> Date = { Date() }, observer: @escaping Observer) {
        self.limit = limit
        self.now = now
        self.observer = observer
    }

    /// Delivers a report unless the limit suppresses it. Custom evaluators can call it, too.
    public func report(_ report: TrustReport) {
        if limit == .onceADay, let key = ReportMemory.key(report) {
            let date = now()
            guard memory.withLock({ $0.admit(key, at: date) }) else { return }
        }
        observer(report)
    }
}

/// The reports of the last 24 hours, by the digest of all fields except for the date.
struct ReportMemory {
    static let capacity = 1000
    private static let day = 86_400.0

    private var told: [Data: Date] = [:]

    /// The key of a report; nil if it cannot be encoded, in which case it is always delivered.
    static func key(_ report: TrustReport) -> Data? {
        var undated = report
        undated.date = Date(timeIntervalSince1970: 0)
        guard let json = try? undated.json() else { return nil }
        return Data(json.withUnsafeBytes { SHA256Hasher.digest(of: $0) })
    }

    /// Whether a report is delivered; it is recorded if so.
    mutating func admit(_ key: Data, at date: Date) -> Bool {
        // A clock that was set back must not suppress reports.
        if let last = told[key], date >= last, date.timeIntervalSince(last) < Self.day { return false }
        if told.count >= Self.capacity, told[key] == nil { makeRoom(at: date) }
        told[key] = date
        return true
    }

    private mutating func makeRoom(at date: Date) {
        told = told.filter { date.timeIntervalSince($0.value) < Self.day }
        guard told.count >= Self.capacity, let oldest = told.min(by: { $0.value < $1.value })?.key else { return }
        told[oldest] = nil
    }
}
