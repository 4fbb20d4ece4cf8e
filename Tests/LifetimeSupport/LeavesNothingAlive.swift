internal import Synchronization
public import Testing

/// Requires that all objects a test creates are released at its end: sessions, task handles, exchanges, connections,
/// channels, bodies, servers, and the test's own objects that were passed to them.
///
/// After a test case has returned, its last objects have some seconds to be released, because connections close and
/// threads end asynchronously. Each class with remaining objects is then reported as an issue. A test that throws is
/// not checked, because it may have skipped its clean-up.
///
/// Shared objects that outlive a test are created before the first test (`LivingObjects`) or in another process, such
/// as the servers of `IntegrationTests`.
public struct LeavesNothingAlive: SuiteTrait, TestTrait, TestScoping {
    /// All tests of a suite and its nested suites.
    public let isRecursive = true

    private let patience: Duration
    private let period: SharedTestPeriod

    /// A trait for the tests of the process.
    public init() {
        self.init(patience: .seconds(5), period: .process)
    }

    init(patience: Duration, period: SharedTestPeriod) {
        self.patience = patience
        self.period = period
    }

    /// Runs the test, then checks for remaining objects.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let last = LivingObjects.last()
        period.state.withLock { $0.begin(test.name, last: last) }
        defer { period.state.withLock { $0.end() } }
        try await function()
        await judge(test)
    }

    /// There is no notification when an object is released, so the check is repeated at increasing intervals.
    private func judge(_ test: Test) async {
        let clock = ContinuousClock()
        let deadline = clock.now + patience
        var pause = Duration.microseconds(100)
        while let (names, mark) = period.state.withLock({ $0.judged }) {
            let left = LivingObjects.made(after: mark)
            guard !left.isEmpty else { return }
            guard clock.now < deadline else { return report(left, names, test) }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    private func report(_ left: [String: Int], _ names: [String], _ test: Test) {
        let objects = left.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        let others = names.count > 1 ? " Tests that ran in parallel: \(names.joined(separator: ", "))." : ""
        Issue.record("Left alive: \(objects).\(others)", sourceLocation: test.sourceLocation)
    }
}

/// A test period shared by tests on several threads.
final class SharedTestPeriod: Sendable {
    /// The period of all tests of the process.
    static let process = SharedTestPeriod()

    let state = Mutex(TestPeriod())
}
