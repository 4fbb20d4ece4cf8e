import FoundationEssentials
import Linnet
import LinnetBackground

/// A download or an upload.
struct Transfer: Sendable, Equatable {
    enum Phase: String, Sendable {
        case running, suspended, finished, failed, cancelled
    }

    let isUpload: Bool
    let name: String
    var phase = Phase.running
    var progress = TransferProgress()
    /// The location of the file, or the reason of the failure.
    var detail: String?

    var isActive: Bool { phase == .running || phase == .suspended }

    /// The progress, such as `42 %, 1.2 MB/s, 3 s left`.
    var figures: String {
        let size = Figures.size(progress.completed)
        guard phase == .running else { return "\(phase.rawValue), \(size)" }
        let speed = progress.bytesPerSecond.map { Figures.size(Int64($0)) + "/s" }
        let rest = progress.estimatedTimeRemaining.map { "\(Int(($0 / .seconds(1)).rounded(.up))) s left" }
        let done = progress.fraction.map { "\(Int($0 * 100)) %" } ?? size
        return [done, speed, rest].compactMap { $0 }.joined(separator: ", ")
    }
}

extension Transfer {
    /// A download in the background.
    init(_ task: BackgroundTask) {
        let phases: [BackgroundTask.State: Phase] = [
            .paused: .suspended, .completed: .finished, .failed: .failed, .cancelled: .cancelled,
        ]
        self.init(
            isUpload: false, name: task.tag ?? task.file.lastPathComponent, phase: phases[task.state] ?? .running,
            progress: task.progress, detail: task.state == .completed ? task.file.path : task.error?.message)
    }

    /// Shows an event of an upload.
    mutating func show(_ event: UploadTask<Data>.Event) {
        switch event {
        case .state(.suspended): phase = .suspended
        case .state(.running): phase = .running
        case .state: break
        case .progress(let progress): self.progress = progress.upload
        case .completed(.success(let response)): (phase, detail) = (.finished, "status \(response.status.code)")
        case .completed(.failure(let error)) where error.code == .cancelled: phase = .cancelled
        case .completed(.failure(let error)): (phase, detail) = (.failed, error.message)
        }
    }
}
