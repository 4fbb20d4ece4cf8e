/// The time from the moment when a test begins while no other runs until none runs any more.
///
/// With `--no-parallel` that is one test, or one case of a test with arguments. Where tests run side by side, what one of them
/// made cannot be told from what another made: all of them are judged together, when the last has ended.
struct TestPeriod {
    private var running = 0
    private var mark: UInt64 = 0
    private var names: [String] = []

    /// A test begins. What is made after `last` may belong to it.
    mutating func begin(_ name: String, last: UInt64) {
        if running == 0 {
            mark = last
            names = []
        }
        running += 1
        names.append(name)
    }

    /// The tests that are to be judged, and the number after which they made what they made; nil while another test runs.
    var judged: (names: [String], mark: UInt64)? { running == 1 ? (names, mark) : nil }

    /// A test has ended, and was judged if it was the last.
    mutating func end() { running -= 1 }
}
