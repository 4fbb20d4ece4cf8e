/// Two counts over the last ten seconds, kept for each second, so that they need the same memory and time at any load.
struct RecentCounts {
    /// The number of seconds that count.
    static let window: Int64 = 10

    private struct Second {
        var number = Int64.min
        var all = 0
        var some = 0
    }

    private var seconds = Array(repeating: Second(), count: Int(window))

    /// Adds to the counts of a second.
    mutating func add(all: Int = 0, some: Int = 0, at second: Int64) {
        let place = Int(second % Self.window)
        if seconds[place].number != second { seconds[place] = Second(number: second) }
        seconds[place].all += all
        seconds[place].some += some
    }

    /// The counts of a second and the nine before it.
    func sums(at second: Int64) -> (all: Int, some: Int) {
        seconds.reduce((0, 0)) { sums, next in
            guard next.number > second - Self.window, next.number <= second else { return sums }
            return (sums.0 + next.all, sums.1 + next.some)
        }
    }
}
