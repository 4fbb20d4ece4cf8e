import FoundationEssentials
import Linnet
import LinnetBackground

/// The values of the app's observable objects at one time.
struct LiveState: Codable, Hashable, Sendable {
    /// Whether the timeline is being loaded (`RefreshState`).
    var isRefreshing = false
    /// Whether the network activity indicator is shown (`NetworkActivityIndicator`).
    var isIndicatorVisible = false
    /// The number of running requests.
    var activityCount = 0
    /// The network's status, such as `ethernet eth0`; nil until it is known.
    var network: String?
    /// The same with all that is known.
    var networkDetail: String?
    /// The path of packets: addresses, gateway, MTU.
    var networkPath: [String] = []
    var isNetworkReachable = true
    /// The current or the last transfer.
    var transfer: TransferStatus?
    /// The pictures in memory, and their decoded size in bytes.
    var pictureCount = 0
    var pictureBytes = 0
}

/// The displayed state of a download or an upload.
struct TransferStatus: Codable, Hashable, Sendable {
    enum Direction: String, Codable, Sendable {
        case download, upload
    }

    enum Phase: String, Codable, Sendable {
        case running, suspended, finished, failed, cancelled
    }

    let direction: Direction
    let name: String
    var phase = Phase.running
    var completed: Int64 = 0
    var total: Int64?
    var bytesPerSecond: Double?
    var secondsLeft: Double?
    /// The location of the file, or the reason of the failure.
    var detail: String?

    var isActive: Bool { phase == .running || phase == .suspended }

    /// The completed part, from 0 to 1; nil while the size is unknown.
    var fraction: Double? { total.map { $0 > 0 ? min(1, Double(completed) / Double($0)) : 1 } }

    init(_ direction: Direction, name: String) {
        self.direction = direction
        self.name = name
    }

    /// The status of a background download.
    init(_ task: BackgroundTask) {
        self.init(.download, name: task.tag ?? task.file.lastPathComponent)
        phase =
            switch task.state {
            case .waiting, .running: .running
            case .paused: .suspended
            case .completed: .finished
            case .failed: .failed
            case .cancelled: .cancelled
            }
        show(task.progress)
        detail = task.state == .completed ? task.file.path : task.error?.message
    }

    mutating func show(_ progress: TransferProgress) {
        completed = progress.completed
        total = progress.total
        bytesPerSecond = progress.bytesPerSecond
        secondsLeft = progress.estimatedTimeRemaining.map { $0 / .seconds(1) }
    }
}
