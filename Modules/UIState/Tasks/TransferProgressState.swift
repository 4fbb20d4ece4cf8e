public import LinnetSession
public import Observation

/// The state of a progress bar for the bytes of one task in one direction.
///
/// ```swift
/// let bar = TransferProgressState()
/// bar.follow(task, .upload)
/// ```
@MainActor
@Observable
public final class TransferProgressState {
    /// The direction of the bytes.
    public enum Direction: Sendable, Hashable {
        /// The body of the request.
        case upload
        /// The body of the response.
        case download
    }

    /// The bytes so far, their total, and the throughput.
    public private(set) var progress = TransferProgress()

    @ObservationIgnored private let follower = TaskFollower()
    @ObservationIgnored private let latest = LatestValue(TransferProgress())

    /// Creates a state that follows no task.
    public init() {}

    /// The completed fraction, from 0 to 1; 0 while the total is unknown.
    public var fraction: Double { progress.fraction ?? 0 }

    /// ``progress``, now and after each change; a slow reader misses intermediate values, never the last. Ends when the
    /// state is released.
    public var states: AsyncStream<TransferProgress> { latest.stream }

    /// Shows the progress of a task instead of the previous one.
    ///
    /// The current progress is shown at once, whether the task runs, is suspended, or has ended. It is zero for a task
    /// that was not started. The task is not retained.
    ///
    /// - Parameters:
    ///   - task: The task to follow; nil to follow none, which resets the progress.
    ///   - direction: The direction of the bytes. The default is the download.
    public func follow(_ task: (any SessionTask)?, _ direction: Direction = .download) {
        show(task?.progress.part(direction) ?? TransferProgress())
        follower.follow(task?.progressUpdates) { [weak self] progress in
            self?.show(progress.part(direction))
            return self != nil
        }
    }

    /// Shows the elements of a sequence instead of the previous task's progress, such as the progress of a transfer in
    /// the background. Until the first element, the progress is zero.
    public func follow(_ updates: EventSequence<TransferProgress>) {
        show(TransferProgress())
        follower.follow(updates) { [weak self] progress in
            self?.show(progress)
            return self != nil
        }
    }

    private func show(_ progress: TransferProgress) {
        guard self.progress != progress else { return }
        self.progress = progress
        latest.send(progress)
    }
}

extension TaskProgress {
    fileprivate func part(_ direction: TransferProgressState.Direction) -> TransferProgress {
        direction == .upload ? upload : download
    }
}
