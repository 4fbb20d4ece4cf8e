internal import Synchronization
public import Testing

/// What a test makes is gone at its end: every session, task handle, exchange, connection, channel, body and server, and the
/// test's own objects that were handed to them.
///
/// A test case that returns has some seconds for the last of them to go, since connections close and threads end on their own.
/// Then each class of which an object is left is named in an issue. A test that throws is not judged: it may not have come to
/// its clean-up.
///
/// The rule for what is shared: what lives longer than a test is made before the first one (`LivingObjects`), or in another
/// process, as the servers of `IntegrationTests` are.
public struct LeavesNothingAlive: SuiteTrait, TestTrait, TestScoping {
    /// All tests of a suite, and of the suites in it.
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

    /// Runs the test, then judges what is left.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let last = LivingObjects.last()
        period.state.withLock { $0.begin(test.name, last: last) }
        defer { period.state.withLock { $0.end() } }
        try await function()
        await judge(test)
    }

    /// Nothing tells when an object is gone, so it is looked for again and again, at ever greater distances.
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
        let others = names.count > 1 ? " Tests ran side by side: \(names.joined(separator: ", "))." : ""
        Issue.record("Left alive: \(objects).\(others)", sourceLocation: test.sourceLocation)
    }
}

/// A period that tests on many threads begin and end.
final class SharedTestPeriod: Sendable {
    /// The period of all tests of the process.
    static let process = SharedTestPeriod()

    let state = Mutex(TestPeriod())
}
