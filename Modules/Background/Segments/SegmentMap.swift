/// The ranges of a file that several requests transfer at once.
struct SegmentMap: Sendable, Equatable, Codable {
    /// A range of the file, of which the first bytes were written.
    struct Segment: Sendable, Equatable, Codable {
        let start: Int64
        let end: Int64
        /// The number of bytes that were written.
        var done: Int64 = 0

        /// The range that is missing.
        var rest: Range<Int64> { start + done..<end }
    }

    /// The fewest bytes of a segment. Smaller ones take longer than they save.
    static let smallest: Int64 = 1 << 20

    private(set) var segments: [Segment]

    /// Divides a file into up to `count` equal segments; returns nil if it is too small for two.
    init?(total: Int64, count: Int) {
        let count = min(Int64(count), total / Self.smallest)
        guard count > 1 else { return nil }
        let size = total / count
        segments = (0..<count).map { Segment(start: $0 * size, end: $0 == count - 1 ? total : ($0 + 1) * size) }
    }

    var total: Int64 { segments.last?.end ?? 0 }
    var received: Int64 { segments.reduce(0) { $0 + $1.done } }
    var isWhole: Bool { segments.allSatisfy { $0.rest.isEmpty } }

    /// Whether the segments follow one another without a gap.
    var isSound: Bool {
        var position: Int64 = 0
        for segment in segments {
            guard segment.start == position, segment.end > position, (0...segment.end - position).contains(segment.done)
            else { return false }
            position = segment.end
        }
        return position > 0
    }

    /// Counts written bytes.
    mutating func write(_ count: Int, to index: Int) { segments[index].done += Int64(count) }

    /// Takes over the progress of segments from numbers of bytes, if they are further and within the segments.
    mutating func advance(to done: [Int64]) {
        guard done.count == segments.count else { return }
        for (index, count) in done.enumerated() where count > segments[index].done {
            segments[index].done = min(count, segments[index].end - segments[index].start)
        }
    }
}
