/// The statuses that a validation accepts.
///
/// A validation is made and copied for each request, and a `RangeSet` costs more at either than all else it does.
enum AcceptedStatuses: Sendable, Hashable {
    case all
    case range(Range<Int>)
    /// In order and apart from each other; never one alone.
    case ranges([Range<Int>])

    init(_ range: Range<Int>) {
        self = range.isEmpty ? .ranges([]) : .range(range)
    }

    init(_ set: RangeSet<Int>?) {
        guard let set else {
            self = .all
            return
        }
        let ranges = Array(set.ranges)
        self = ranges.count == 1 ? .range(ranges[0]) : .ranges(ranges)
    }

    /// Nil for all.
    var rangeSet: RangeSet<Int>? {
        switch self {
        case .all: nil
        case .range(let range): RangeSet(range)
        case .ranges(let ranges): RangeSet(ranges)
        }
    }

    func contains(_ code: Int) -> Bool {
        switch self {
        case .all: true
        case .range(let range): range.contains(code)
        case .ranges(let ranges): ranges.contains { $0.contains(code) }
        }
    }
}
