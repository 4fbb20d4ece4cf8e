import FoundationEssentials
import LinnetBackground
import LinnetSession

/// A download as the server's log has it.
struct ServedDownload {
    let file: String
    let status: Int
    /// When the request began, in seconds.
    let begin: Double
    /// The bytes of the body that the server has sent.
    let sent: Int64
    /// The requested range; nil for the whole file.
    let range: Range<Int64>?
}

/// Counts the bytes that are sent again because processes were killed.
struct KillCounts {
    /// The files as a process finds them when it starts.
    struct Round {
        let begin: Double
        let tasks: [String: BackgroundTask]
        /// The files that are at their destinations.
        let complete: Set<String>
        /// Whether a file has all its bytes, and is not at its destination yet.
        let isChecking: Bool
        /// Whether the server's log is complete: it has no transfers that the server itself broke.
        var isLogged = true
        /// The file that changes meanwhile.
        var changed: String?

        func received(_ file: String) -> Int64? {
            guard let task = tasks[file] else { return nil }
            return task.state == .completed ? task.progress.total ?? task.progress.completed : task.progress.completed
        }
    }

    var rounds: [Round] = []

    /// The files that were requested again after they were complete.
    private(set) var requestedTwice = 0
    /// The downloads that began again because the file had changed.
    private(set) var begunAgain = 0
    /// For each killed process, the bytes that its parts had and that the next process requested again.
    private(set) var requestedAgain: [Int64] = []
    /// For each killed process, the bytes that the server had sent and that its parts did not get.
    private(set) var lost: [Int64] = []

    /// The progress of a file that a killed process had reported, and that its part does not have.
    struct Loss: CustomStringConvertible {
        let file: String
        let before, reported, after: Int64
        /// The number of processes so far, and as it was whenever the file had changed.
        let round: Int
        let changes: [Int]

        var description: String {
            "process \(round), \(file): \(before) bytes before, \(reported) reported, \(after) after, changed in \(changes)"
        }
    }

    /// The number of processes that were killed while they downloaded.
    private(set) var downloading = 0
    private(set) var losses: [Loss] = []
    /// The files that have changed, and whose parts can be of the older version.
    private var stale: Set<String> = []

    /// Compares the progress that a killed process has reported with the parts.
    mutating func noteLoss(from seen: [String: Int64], to round: Round) {
        guard let last = rounds.last else { return }
        downloading += seen.isEmpty ? 0 : 1
        if let changed = last.changed { stale.insert(changed) }
        for (file, reported) in seen where !round.complete.contains(file) {
            let (before, after) = (last.received(file) ?? 0, round.received(file) ?? 0)
            // A file that is checked has no part any more, and its name does not tell its task.
            if reported <= after || round.isChecking { continue }
            // A part of the older version is replaced by a new one, which is smaller.
            if stale.contains(file) {
                if after < before { stale.remove(file) }
                continue
            }
            losses.append(
                Loss(
                    file: file, before: before, reported: reported, after: after, round: rounds.count,
                    changes: rounds.indices.filter { rounds[$0].changed == file }.map { $0 + 1 }))
        }
    }

    /// The largest loss of a file.
    var largestLoss: Int64 { losses.map { $0.reported - $0.after }.max() ?? 0 }

    var loss: String {
        """
        \(downloading) killed while they downloaded; of the progress of a file, at most \(largestLoss) bytes were not in \
        its part (\(losses.count) files had fewer bytes\(losses.map { "; \($0)" }.joined()))
        """
    }

    /// Reads the log of the server.
    mutating func count(_ served: [ServedDownload]) {
        for (index, round) in rounds.enumerated().dropLast() {
            let next = rounds[index + 1]
            let ofRound = served.filter { round.begin <= $0.begin && $0.begin < next.begin }
            let isLogged = round.isLogged && next.isLogged
            var (again, lost): (Int64, Int64) = (0, 0)
            for (file, requests) in Dictionary(grouping: ofRound, by: \.file) {
                guard let task = round.tasks[file] else { continue }
                if round.complete.contains(file) { requestedTwice += 1 }
                if requests.contains(where: { $0.status == 200 && $0.range != nil }) { begunAgain += 1 }
                let isSame = ![round.changed, index > 0 ? rounds[index - 1].changed : nil].contains(file)
                guard isSame, requests.allSatisfy({ $0.status == ($0.range == nil ? 200 : 206) }) else { continue }
                again += Self.requestedAgain(requests, task)
                guard isLogged, let before = round.received(file), let after = next.received(file) else { continue }
                lost += max(0, requests.reduce(0) { $0 + $1.sent } - (after - before))
            }
            requestedAgain.append(again)
            if isLogged { self.lost.append(lost) }
        }
    }

    /// The bytes of a part that are requested although the part has them.
    private static func requestedAgain(_ requests: [ServedDownload], _ task: BackgroundTask) -> Int64 {
        guard let total = task.progress.total, task.progress.completed > 0 else { return 0 }
        var (requested, end): (Int64, Int64) = (0, 0)
        let ranges = requests.map { ($0.range ?? 0..<total).clamped(to: 0..<total) }
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound > end {
            requested += range.upperBound - max(end, range.lowerBound)
            end = range.upperBound
        }
        return max(0, requested - (total - task.progress.completed))
    }

    var summary: String {
        let sorted = lost.sorted()
        return """
            \(requestedTwice) files requested again after they were complete, \(begunAgain) downloads begun again \
            because the file had changed; bytes of parts requested again at most \(requestedAgain.max() ?? 0) in \
            \(requestedAgain.count) kills; bytes that the server had sent and that no part has: median \
            \(sorted.isEmpty ? 0 : sorted[sorted.count / 2]), at most \(sorted.last ?? 0) in \(sorted.count) kills
            """
    }
}
