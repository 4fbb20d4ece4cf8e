import FoundationEssentials
import LinnetBackground
import LinnetSession

/// A download as the server's log has it.
struct ServedDownload {
    let file: String
    let status: Int
    /// The entity tag in the response; a hyphen for none.
    let entityTag: String
    /// When the request began, in seconds.
    let begin: Double
    /// The bytes of the body that the server has sent.
    let sent: Int64
    /// The requested range; nil for the whole file.
    let range: Range<Int64>?
}

/// A part that a process can continue.
struct KeptPart {
    /// The entity tag with which the server has sent its bytes.
    let entityTag: String
    /// The number of its bytes.
    let received: Int64
}

/// Counts the bytes that are sent again because processes were killed.
struct KillCounts {
    /// The files between two processes.
    struct Round {
        let begin: Double
        /// The parts, by the names of the files at their destinations.
        let parts: [String: KeptPart]
        /// The files that are at their destinations.
        let complete: Set<String>
        /// The files that have all their bytes, and are not at their destinations yet.
        let whole: Set<String>
        /// The entity tags that the server sends now.
        let served: [String: String]
        /// Whether the server's log of the next process is complete: it has no transfers that the server itself broke.
        var isLogged = true
    }

    /// Progress that a killed process had reported, or that its part had, and that is missing afterwards.
    struct Loss: CustomStringConvertible {
        let file: String
        let before, reported, after: Int64
        /// The number of the process.
        let process: Int
        /// The versions of the part before and after, and of the server's file before and after.
        let entityTags: [String?]

        var bytes: Int64 { max(before, reported) - after }

        var description: String {
            "process \(process), \(file): \(before) bytes before, \(reported) reported, \(after) after, "
                + "\(entityTags.map { $0 ?? "none" })"
        }
    }

    /// A version of a file.
    private struct Version: Hashable {
        let file, entityTag: String
    }

    /// A part that has all bytes gives up the last one, because the server confirms the version only with a range.
    static let lastByte: Int64 = 1

    let sizes: [String: Int64]
    var rounds: [Round]

    /// The number of processes that were killed while they downloaded.
    private(set) var downloading = 0
    private(set) var losses: [Loss] = []
    /// The versions of the server because of which a download began again.
    private var renewed: Set<Version> = []
    /// The files that were requested again after they were complete.
    private(set) var requestedTwice = 0
    /// The downloads of which a part was answered with another version.
    private(set) var begunAgain = 0
    /// For each killed process, the bytes that its parts had and that the next process requested again.
    private(set) var requestedAgain: [Int64] = []
    /// For each killed process, the bytes that the server had sent and that its parts did not get.
    private(set) var lost: [Int64] = []

    init(sizes: [String: Int64], first: Round) {
        self.sizes = sizes
        rounds = [first]
    }

    /// The bytes of a file that are there.
    private func received(_ file: String, _ round: Round) -> Int64 {
        let hasAll = round.complete.contains(file) || round.whole.contains(file)
        return hasAll ? sizes[file] ?? 0 : round.parts[file]?.received ?? 0
    }

    /// Whether all responses and parts have entity tags of versions that the server had.
    func hasOnlyKnownVersions(_ downloads: [ServedDownload]) -> Bool {
        let known = Set(rounds.flatMap { $0.served.map { Version(file: $0.key, entityTag: $0.value) } })
        let parts = rounds.flatMap { $0.parts.map { Version(file: $0.key, entityTag: $0.value.entityTag) } }
        let served = downloads.filter { [200, 206].contains($0.status) }
        return known.isSuperset(of: parts + served.map { Version(file: $0.file, entityTag: $0.entityTag) })
    }

    /// Compares the files after a process was killed with the files before it and with the progress that the process
    /// has reported.
    mutating func add(_ next: Round, reported: [String: Int64]) {
        let last = rounds[rounds.count - 1]
        rounds.append(next)
        downloading += reported.isEmpty ? 0 : 1
        for file in sizes.keys {
            let loss = Loss(
                file: file, before: received(file, last), reported: reported[file] ?? 0, after: received(file, next),
                process: rounds.count - 1,
                entityTags: [last, next].map { $0.parts[file]?.entityTag } + [last, next].map { $0.served[file] })
            if loss.bytes > Self.lastByte, !mayBeginAgain(file, from: last, to: next) { losses.append(loss) }
        }
    }

    /// Whether the server has replaced the version of a part, which is given up once for each new version.
    private mutating func mayBeginAgain(_ file: String, from last: Round, to next: Round) -> Bool {
        guard let served = next.served[file], let known = last.parts[file]?.entityTag ?? last.served[file],
            known != served, next.parts[file]?.entityTag != known
        else { return false }
        return renewed.insert(Version(file: file, entityTag: served)).inserted
    }

    /// The largest loss of a file.
    var largestLoss: Int64 { losses.map(\.bytes).max() ?? 0 }

    var loss: String {
        """
        \(downloading) killed while they downloaded, \(renewed.count) parts given up for a new version; \
        of the progress of a file, at most \(largestLoss) bytes were missing afterwards \
        (\(losses.count) files had fewer bytes\(losses.map { "; \($0)" }.joined()))
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
                if round.complete.contains(file) { requestedTwice += 1 }
                let before = round.parts[file]
                let tags = Set(requests.map(\.entityTag) + [before, next.parts[file]].compactMap { $0?.entityTag })
                if let before {
                    let isAnswered = requests.contains { $0.status == 200 && $0.entityTag != before.entityTag }
                    begunAgain += isAnswered ? 1 : 0
                    again += requestedAgain(requests.filter { $0.entityTag == before.entityTag }, file, before)
                }
                guard isLogged, tags.count == 1 else { continue }
                let sent = requests.reduce(0) { $0 + $1.sent }
                lost += max(0, sent - (received(file, next) - received(file, round)))
            }
            requestedAgain.append(again)
            if isLogged { self.lost.append(lost) }
        }
    }

    /// The bytes of a part that are requested although the part has them.
    private func requestedAgain(_ requests: [ServedDownload], _ file: String, _ part: KeptPart) -> Int64 {
        let total = sizes[file] ?? 0
        var (requested, end): (Int64, Int64) = (0, 0)
        let ranges = requests.map { ($0.range ?? 0..<total).clamped(to: 0..<total) }
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound > end {
            requested += range.upperBound - max(end, range.lowerBound)
            end = range.upperBound
        }
        return max(0, requested - (total - part.received))
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
