/// Decides when a task's progress is reported, and measures its throughput.
struct ProgressPace {
    let interval: Duration
    private var upload = TransferRate()
    private var download = TransferRate()
    private var lastNews: ContinuousClock.Instant?
    /// The progress that was reported last.
    private(set) var told = TaskProgress()
    /// The timer that reports the progress whose report was delayed.
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

    /// Returns what to do about a change.
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
