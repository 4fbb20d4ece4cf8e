/// Decides when a task's progress is reported, and measures its throughput.
struct ProgressPace {
    let interval: Duration
    private var upload = TransferRate()
    private var download = TransferRate()
    private var lastNews: ContinuousClock.Instant?
    /// The progress that was reported last.
    private(set) var told = TaskProgress()
    /// The timer for a delayed report.
    private var timer: Task<Void, Never>?
    private var isTimerSet = false

    init(interval: Duration) {
        self.interval = interval
    }

    enum Step {
        case tell
        /// The progress must be reported after this time, unless it is reported earlier.
        case wait(Duration)
        /// A timer is already running.
        case none
    }

    /// Records a change of the progress.
    mutating func changed(from old: TaskProgress, to new: TaskProgress, at now: ContinuousClock.Instant) {
        if new.upload.completed != old.upload.completed { upload.note(new.upload.completed, at: now) }
        if new.download.completed != old.download.completed { download.note(new.download.completed, at: now) }
    }

    /// Returns the next step after a change.
    mutating func step(at now: ContinuousClock.Instant) -> Step {
        guard let lastNews, now - lastNews < interval else { return .tell }
        guard !isTimerSet else { return .none }
        isTimerSet = true
        return .wait(interval - (now - lastNews))
    }

    mutating func didTell(_ progress: TaskProgress, at now: ContinuousClock.Instant?) {
        told = progress
        lastNews = now ?? lastNews
    }

    mutating func setTimer(_ timer: Task<Void, Never>) {
        // It may have fired before it is known here.
        if isTimerSet { self.timer = timer }
    }

    mutating func timerFired() {
        isTimerSet = false
        timer = nil
    }

    /// Ends the reports, and returns the timer for the caller to cancel.
    mutating func end() -> Task<Void, Never>? {
        defer { timerFired() }
        return timer
    }

    mutating func pause() {
        upload.restart()
        download.restart()
    }

    /// Returns a progress with its throughput.
    func measured(_ progress: TaskProgress, at now: ContinuousClock.Instant) -> TaskProgress {
        var progress = progress
        progress.upload.bytesPerSecond = upload.bytesPerSecond(at: now)
        progress.download.bytesPerSecond = download.bytesPerSecond(at: now)
        return progress
    }
}

/// Measures the throughput over the last three seconds at most, with a sample every tenth of a second.
struct TransferRate {
    private static let window: Duration = .seconds(3)
    private static let step: Duration = .milliseconds(100)
    /// The minimum time for a meaningful measurement.
    private static let shortest: Duration = .milliseconds(200)

    private var samples: [(time: ContinuousClock.Instant, completed: Int64)] = []

    /// Records the total number of bytes transferred so far.
    mutating func note(_ completed: Int64, at now: ContinuousClock.Instant) {
        guard let last = samples.last else {
            samples = [(now, completed)]
            return
        }
        // Samples within one step replace the newest one. The oldest sample stays as the start of the measurement.
        if samples.count > 1, let before = samples.dropLast().last, now - before.time < Self.step {
            samples[samples.count - 1] = (now, completed)
        } else if last.completed != completed || last.time != now {
            samples.append((now, completed))
        }
        let start = now - Self.window
        while samples.count > 2, samples[1].time <= start { samples.removeFirst() }
    }

    func bytesPerSecond(at now: ContinuousClock.Instant) -> Double? {
        guard let first = samples.first, let last = samples.last, samples.count > 1 else { return nil }
        let time = now - first.time
        guard time >= Self.shortest else { return nil }
        return Double(last.completed - first.completed) / (time / .seconds(1))
    }

    /// Discards the samples, so that the pause before the next one does not count.
    mutating func restart() {
        samples = []
    }
}
