internal import FoundationEssentials
internal import LinnetSession

/// The part of a task that changes, as a pure state machine.
///
/// The journal applies each event in a transaction. Another process may ask to pause or cancel a task that is
/// transferred; the request is kept as a wish until the transferring process has stopped.
struct TaskMachine: Sendable, Equatable, Codable {
    /// A request of a user to a task that is transferred.
    enum Wish: String, Sendable, Codable {
        case pause, cancel
    }

    enum Event: Sendable {
        case start
        case succeed
        /// An attempt failed. The decision is of the retry policy. Failures before an attempt with progress do not
        /// count.
        case fail(StoredError, RetryPolicy.Decision, hadProgress: Bool)
        /// The attempt was stopped, or its process ended.
        case interrupt
        case expire
        case pause, resume, cancel, retry
    }

    /// The rules that the machine applies.
    struct Rules: Sendable {
        var kind: BackgroundTask.Kind
        /// How often an interrupted upload is created again.
        var recreations: Int
    }

    var state = BackgroundTask.State.waiting
    var wish: Wish?
    /// The number of attempts that were begun; it identifies the present one.
    var attempts = 0
    /// The failed attempts since the task was accepted or retried.
    var failures = 0
    /// The attempts of an upload that were interrupted since then.
    var interruptions = 0
    /// The time of the next attempt in milliseconds since 1970, and the wait that led to it.
    var retryAt: Int64?
    var retryDelay: Int64?
    var error: StoredError?

    /// Applies an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - now: The time in milliseconds since 1970.
    ///   - rules: The rules of the task.
    /// - Returns: Whether the task changed. An event that the state does not expect changes nothing.
    mutating func apply(_ event: Event, at now: Int64, _ rules: Rules) -> Bool {
        let before = self
        switch (event, state) {
        case (.start, .waiting): start()
        case (.succeed, .running): end(.completed, nil)
        case (.fail(let error, let decision, let hadProgress), .running):
            if hadProgress { failures = 0 }
            fail(error, decision, now)
        case (.interrupt, .running): interrupt(rules)
        case (.expire, .waiting), (.expire, .running): end(.failed, .expired)
        case (.pause, .waiting): state = .paused
        case (.pause, .running): wish = wish ?? .pause
        case (.resume, .paused): wait()
        case (.resume, .running): if wish == .pause { wish = nil }
        case (.cancel, .waiting), (.cancel, .paused): end(.cancelled, nil)
        case (.cancel, .running): wish = .cancel
        case (.retry, .failed), (.retry, .cancelled): restart()
        case (.retry, .waiting): (retryAt, retryDelay) = (nil, nil)
        default: break
        }
        return self != before
    }

    /// Shortens a wait that the clock has made longer, because it was set back.
    mutating func limitWait(at now: Int64) -> Bool {
        guard let retryAt, let retryDelay, retryAt - now > retryDelay else { return false }
        self.retryAt = now + retryDelay
        return true
    }

    private mutating func start() {
        state = .running
        attempts += 1
        (retryAt, retryDelay) = (nil, nil)
    }

    private mutating func end(_ end: BackgroundTask.State, _ error: StoredError?) {
        state = end
        wish = nil
        self.error = error
        (retryAt, retryDelay) = (nil, nil)
    }

    private mutating func wait() {
        state = .waiting
        wish = nil
    }

    private mutating func restart() {
        wait()
        (failures, interruptions, error) = (0, 0, nil)
    }

    private mutating func fail(_ error: StoredError, _ decision: RetryPolicy.Decision, _ now: Int64) {
        failures += 1
        guard wish != .cancel else { return end(.cancelled, nil) }
        guard case .retry(let delay) = decision else { return end(.failed, error) }
        self.error = error
        // A paused task keeps its wait: resuming it must not ask a server sooner than it allowed.
        state = wish == .pause ? .paused : .waiting
        wish = nil
        let wait = delay.milliseconds
        (retryAt, retryDelay) = (now + wait, wait)
    }

    private mutating func interrupt(_ rules: Rules) {
        switch wish {
        case .cancel: return end(.cancelled, nil)
        case .pause:
            state = .paused
            wish = nil
        case nil:
            interruptions += 1
            guard rules.kind == .download || interruptions <= rules.recreations else {
                return end(.failed, .interrupted(rules.recreations))
            }
            wait()
        }
    }
}

/// An error as the journal keeps it.
struct StoredError: Sendable, Hashable, Codable {
    var code: BackgroundError.Code
    var message: String
    var sessionCode: SessionError.Code?

    init(_ error: BackgroundError) {
        code = error.code
        message = error.message
        sessionCode = error.sessionCode
    }

    var error: BackgroundError { BackgroundError(code, message, sessionCode: sessionCode) }

    static let expired = StoredError(BackgroundError(.expired, "The task was not complete before its expiry."))

    static func interrupted(_ count: Int) -> StoredError {
        StoredError(
            BackgroundError(.interrupted, "The upload was interrupted, and was already created again \(count) times."))
    }
}

extension Duration {
    /// The duration in whole milliseconds, within a hundred years.
    package var milliseconds: Int64 {
        let limited = max(.zero, waitable)
        return limited.components.seconds * 1000 + limited.components.attoseconds / 1_000_000_000_000_000
    }
}

extension Date {
    /// The time in milliseconds since 1970, within a range that sums do not leave.
    var milliseconds: Int64 {
        let value = timeIntervalSince1970 * 1000
        return value.isNaN ? 0 : Int64(min(max(value, -4e15), 4e15))
    }

    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
