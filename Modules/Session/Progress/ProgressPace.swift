/// When a task's progress is told, and how fast its bytes come.
struct ProgressPace {
    let interval: Duration
    private var upload = TransferRate()
    private var download = TransferRate()
    private var lastNews: ContinuousClock.Instant?
    /// What was told last.
    private(set) var told = TaskProgress()
    /// Tells the progress that came too early to be told.
    private var timer: Task<Void, Never>?
    private var isTimerSet = false

    init(interval: Duration) {
        self.interval = interval
    }

    enum Step {
        case tell
        /// It is told after this time, if nothing else does.
        case wait(Duration)
        /// A wait is in progress already.
        case none
    }

    /// The progress has changed.
    mutating func changed(from old: TaskProgress, to new: TaskProgress, at now: ContinuousClock.Instant) {
        if new.upload.completed != old.upload.completed { upload.note(new.upload.completed, at: now) }
        if new.download.completed != old.download.completed { download.note(new.download.completed, at: now) }
    }

    /// What to do about a change.
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

    /// Returns the timer, which is to be cancelled.
    mutating func end() -> Task<Void, Never>? {
        defer { timerFired() }
        return timer
    }

    mutating func pause() {
        upload.restart()
        download.restart()
    }

    /// A progress with its throughput.
    func measured(_ progress: TaskProgress, at now: ContinuousClock.Instant) -> TaskProgress {
        var progress = progress
        progress.upload.bytesPerSecond = upload.bytesPerSecond(at: now)
        progress.download.bytesPerSecond = download.bytesPerSecond(at: now)
        return progress
    }
}
