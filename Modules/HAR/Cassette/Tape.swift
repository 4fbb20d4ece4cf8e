internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import Synchronization

/// The entries of a cassette that is replayed, and which of them were used.
final class Tape: Sendable {
    let configuration: Cassette.Configuration
    private let file: URL
    private let entries: [TapeEntry]
    private let state: Mutex<TapeMachine>

    init(_ har: HAR, _ configuration: Cassette.Configuration, file: URL) throws(HARError) {
        self.configuration = configuration
        self.file = file
        entries = try TapeReader.entries(har, configuration)
        state = Mutex(TapeMachine(entries, configuration.matching))
    }

    /// The entry that answers a request, which is used from now on.
    func take(for request: ReplayedRequest) throws(HARError) -> TapeEntry {
        if let place = state.withLock({ $0.take(for: request, among: entries) }) { return entries[place] }
        throw noMatch(for: request)
    }

    var unusedEntries: [TapeEntry] {
        state.withLock { state in entries.indices.filter { !state.isUsed[$0] } }.map { entries[$0] }
    }

    func checkUse() throws(HARError) {
        guard configuration.matching.requiresAllEntries else { return }
        let unused = unusedEntries
        guard !unused.isEmpty else { return }
        let list = unused.prefix(3).map { "entries[\($0.index)] \(Self.text($0.key))" }.joined(separator: ", ")
        throw HARError(
            .unusedEntries,
            "\(unused.count) entries of \(file.lastPathComponent.oneLine) were not used: \(list)\(unused.count > 3 ? ", …" : ".")"
        )
    }

    // MARK: Messages

    private static func text(_ key: TapeKey) -> String { "\(key.method) \(key.url)".oneLine }

    private func noMatch(for request: ReplayedRequest) -> HARError {
        let used = state.withLock { $0.isUsed }
        var nearest: [(score: Int, place: Int)] = []
        for (place, entry) in entries.enumerated() {
            let score = request.similarity(to: entry)
            guard score > 0 else { continue }
            nearest.append((score, place))
            // The best three so far, earlier ones first.
            nearest.sort { ($1.score, $0.place) < ($0.score, $1.place) }
            if nearest.count > 3 { nearest.removeLast() }
        }
        let list = nearest.map { _, place in
            let entry = entries[place]
            let reason = request.difference(from: entry, configuration.matching)
            let text = reason ?? (used[place] ? "it was used already" : "it is not its turn")
            return "entries[\(entry.index)] \(Self.text(entry.key)): \(text)"
        }
        let hint = list.isEmpty ? "It has none that is like it." : "The nearest: " + list.joined(separator: "; ") + "."
        return HARError(
            .noMatchingEntry,
            "No entry of \(file.lastPathComponent.oneLine) answers \(Self.text(request.key)). \(hint)")
    }
}

/// Which entries answer next.
struct TapeMachine {
    private let matching: Cassette.Matching
    private(set) var isUsed: [Bool]
    /// The entries for each key that may still answer.
    private var candidates: [TapeKey: [Int]] = [:]
    private var position = 0

    init(_ entries: [TapeEntry], _ matching: Cassette.Matching) {
        self.matching = matching
        isUsed = Array(repeating: false, count: entries.count)
        for (place, entry) in entries.enumerated().reversed() { candidates[entry.key, default: []].append(place) }
    }

    /// The place of the entry that answers a request; nil if there is none.
    mutating func take(for request: ReplayedRequest, among entries: [TapeEntry]) -> Int? {
        if matching.isSequential {
            guard position < entries.count, request.difference(from: entries[position], matching) == nil else {
                return nil
            }
            isUsed[position] = true
            position += 1
            return position - 1
        }
        // In reverse order, so that the first entry is removed without moving the others.
        guard
            let last = candidates[request.key]?.lastIndex(where: {
                request.difference(from: entries[$0], matching) == nil
            }), let place = candidates[request.key]?[last]
        else { return nil }
        isUsed[place] = true
        if !matching.repeatsAnswers || isFollowed(last, request, entries) { candidates[request.key]?.remove(at: last) }
        return place
    }

    /// Whether another entry after a candidate answers the same request.
    private func isFollowed(_ candidate: Int, _ request: ReplayedRequest, _ entries: [TapeEntry]) -> Bool {
        candidates[request.key]?[..<candidate].contains {
            request.difference(from: entries[$0], matching) == nil
        } ?? false
    }
}
