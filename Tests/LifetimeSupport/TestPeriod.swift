/// The period from the start of a test while no other runs until no test runs.
///
/// With `--no-parallel` it is one test, or one case of a parameterized test. The objects of tests that run in parallel
/// cannot be distinguished, so these tests are checked together when the last one has ended.
struct TestPeriod {
    private var running = 0
    private var mark: UInt64 = 0
    private var names: [String] = []

    /// Called when a test begins. Objects that are created after `last` may belong to it.
    mutating func begin(_ name: String, last: UInt64) {
        if running == 0 {
            mark = last
            names = []
        }
        running += 1
        names.append(name)
    }

    /// The tests to check, and the number of the last object before them; nil while another test runs.
    var judged: (names: [String], mark: UInt64)? { running == 1 ? (names, mark) : nil }

    /// Called when a test has ended, and was checked if it was the last one.
    mutating func end() { running -= 1 }
}
