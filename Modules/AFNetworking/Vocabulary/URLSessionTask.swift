internal import Dispatch
public import Foundation  // NSObject, Progress
internal import LinnetSession
internal import LinnetTransport
internal import Synchronization

// SAFETY: The mutable state is in a mutex; the other properties are constant and Sendable.
/// A task of a manager, with the members of Foundation's class: a face of `TransferTask`.
///
/// A task is suspended until ``resume()``. The manager retains it while it runs; one that is released before is
/// cancelled.
public class URLSessionTask: NSObject, @unchecked Sendable {
    /// The state of a task.
    public enum State: Int, Sendable {
        /// The task runs.
        case running = 0
        /// The task is suspended, or was not started.
        case suspended = 1
        /// The task was cancelled, and has not ended.
        case canceling = 2
        /// The task has ended.
        case completed = 3
    }

    struct Changes {
        var isRunning = false
        var hasStarted = false
        var hasEnded = false
        var response: URLResponse?
        var error: NSError?
        /// The URL after redirects.
        var currentURL: URL?
        /// The task itself while it runs.
        var own: URLSessionTask?
        /// The group that the task has entered.
        var group: DispatchGroup?
        /// The progress in both directions, once it is asked for.
        var progress: (upload: Progress, download: Progress)?
        var last = TaskProgress()
        /// The download that a data task becomes.
        var download: BecameDownload?
        /// Called when the task starts for the first time.
        var onStart: (@Sendable (URLSessionTask) -> Void)?
    }

    /// The number of the task, unique in its manager.
    public let taskIdentifier: Int
    /// The request that the task was made with.
    public let originalRequest: URLRequest?
    let changes: Mutex<Changes>
    /// Nil if the task could not be made, in which case it has ended.
    let base: (any SessionTask)?
    /// Called when the task starts, before its request is sent.
    private let willStart: @Sendable (URLSessionTask) -> Void

    required init(
        _ number: Int, _ request: URLRequest?, _ base: (any SessionTask)?,
        willStart: @escaping @Sendable (URLSessionTask) -> Void
    ) {
        taskIdentifier = number
        originalRequest = request
        self.base = base
        self.willStart = willStart
        changes = Mutex(Changes())
    }

    deinit { base?.cancel() }

    private struct News {
        var isFirst = false
        var isNew = false
        var onStart: (@Sendable (URLSessionTask) -> Void)?
    }

    /// Starts the task, or resumes it after a suspension.
    public func resume() {
        let news = changes.withLock { changes in
            guard !changes.hasEnded, !changes.isRunning else { return News() }
            defer { (changes.isRunning, changes.hasStarted, changes.own, changes.onStart) = (true, true, self, nil) }
            return News(isFirst: !changes.hasStarted, isNew: true, onStart: changes.onStart)
        }
        news.onStart?(self)
        if news.isFirst { willStart(self) }
        guard let base else { return }
        // Before the transfer, whose end is posted as well.
        if news.isNew { post(.AFNetworkingTaskDidResume) }
        base.resume()
    }

    /// Suspends the task.
    public func suspend() {
        let isNew = changes.withLock { changes in
            defer { changes.isRunning = false }
            return changes.isRunning && !changes.hasEnded
        }
        base?.suspend()
        if isNew { post(.AFNetworkingTaskDidSuspend) }
    }

    /// Cancels the task, which ends with `NSURLErrorCancelled`.
    public func cancel() { base?.cancel() }

    /// The state of the task.
    public var state: State {
        switch base?.state {
        case .running: .running
        case .suspended: .suspended
        case .cancelling: .canceling
        case .completed, nil: .completed
        }
    }

    /// The request after redirects.
    public var currentRequest: URLRequest? {
        var request = originalRequest
        if let url = changes.withLock({ $0.currentURL }) { request?.url = url }
        return request
    }

    /// The head of the response, once the task has ended.
    public var response: URLResponse? { changes.withLock { $0.response } }

    /// The error of a task that has failed.
    public var error: (any Error)? { changes.withLock { $0.error } }

    /// The number of bytes of the response's body that were received.
    public var countOfBytesReceived: Int64 { base?.progress.download.completed ?? 0 }

    /// The number of bytes of the request's body that were sent.
    public var countOfBytesSent: Int64 { base?.progress.upload.completed ?? 0 }

    /// The length of the response's body; -1 while it is not known.
    public var countOfBytesExpectedToReceive: Int64 { base?.progress.download.total ?? -1 }

    /// The length of the request's body; -1 while it is not known.
    public var countOfBytesExpectedToSend: Int64 { base?.progress.upload.total ?? -1 }

    /// A description of your own, which nothing changes. A background session stores it when the task starts.
    public var taskDescription: String? {
        get { base?.taskDescription }
        set { base?.taskDescription = newValue }
    }

    func post(_ name: NSNotification.Name, _ info: MainNotifications.Info? = nil) {
        MainNotifications.shared.post(name, self, info)
    }

    // MARK: The manager

    /// Whether the progress was asked for.
    var hasProgress: Bool { changes.withLock { $0.progress != nil } }

    /// Calls a function when the task starts for the first time, or at once if it has started.
    func whenStarted(_ function: @escaping @Sendable (URLSessionTask) -> Void) {
        let hasStarted = changes.withLock { changes in
            if !changes.hasStarted { changes.onStart = function }
            return changes.hasStarted
        }
        if hasStarted { function(self) }
    }

    /// Enters a group, which the manager leaves after the completion handler.
    func enter(_ group: DispatchGroup?) {
        group?.enter()
        changes.withLock { $0.group = group }
    }

    /// Takes the outcome, and returns the group that the task has entered. The task no longer retains itself then.
    func end(_ response: URLResponse?, _ error: NSError?) -> DispatchGroup? {
        let former = changes.withLock { changes in
            let former = changes
            (changes.hasEnded, changes.isRunning) = (true, false)
            (changes.response, changes.error) = (response, error)
            changes.currentURL = response?.url
            (changes.own, changes.group) = (nil, nil)
            return former
        }
        return withExtendedLifetime(former) { former.group }
    }

    /// The progress in both directions. Cancelling, pausing and resuming it do the same to the task.
    func progress() -> (upload: Progress, download: Progress) {
        let (made, isNew) = changes.withLock { changes in
            if let progress = changes.progress { return (UncheckedBox(progress), false) }
            let progress = (upload: Progress(totalUnitCount: -1), download: Progress(totalUnitCount: -1))
            changes.progress = progress
            return (UncheckedBox(progress), true)
        }
        guard isNew else { return made.value }
        for progress in [made.value.upload, made.value.download] {
            progress.cancellationHandler = { [weak base] in base?.cancel() }
            progress.pausingHandler = { [weak self] in self?.suspend() }
            progress.resumingHandler = { [weak self] in self?.resume() }
        }
        base?.onProgress { [weak self] in self?.take($0, nil) }
        return made.value
    }

    /// Takes a new progress, and calls the block of each direction whose bytes have changed.
    func take(_ progress: TaskProgress, _ blocks: TaskBlocks?) {
        let own = self.progress()
        own.upload.take(progress.upload)
        own.download.take(progress.download)
        guard let blocks else { return }
        let last = changes.withLock { changes in
            defer { changes.last = progress }
            return changes.last
        }
        if last.upload != progress.upload { blocks.upload?(own.upload) }
        if last.download != progress.download { blocks.download?(own.download) }
    }
}

extension Progress {
    fileprivate func take(_ progress: TransferProgress) {
        totalUnitCount = progress.total ?? -1
        completedUnitCount = progress.completed
    }
}

/// A task whose response is read into memory.
public class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}

/// A task that sends a file, data or a stream.
public final class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {}

/// A task whose response is written to a file.
public final class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// Cancels the task, and calls a function with the data to resume it, once it has ended; nil if it cannot be
    /// resumed.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        guard let task = base as? DownloadTask else {
            base?.cancel()
            return completionHandler(nil)
        }
        task.cancel(producingResumeData: { completionHandler($0?.encoded()) })
    }
}

// SAFETY: The value is handed from one queue to the next, and not used by the former one again.
/// Carries a value between queues that is not declared Sendable, as Foundation's are not.
struct UncheckedBox<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
