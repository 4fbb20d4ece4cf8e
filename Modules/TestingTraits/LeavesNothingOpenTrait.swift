internal import LinnetTransport
public import Testing

/// Requires that a test shuts down or releases its sessions and test servers: the trait `.leavesNothingOpen`.
///
/// ```swift
/// @Suite(.leavesNothingOpen, .mockServer(.json("[]"))) struct PostsClientTests { … }
/// ```
/// A session without a shutdown stays open as long as a global variable or a cycle of references keeps it, such as a
/// hook that captures the client of its session. A `MockServer` or `FaultProxy` runs until its shutdown. After the test
/// the trait waits up to 5 s for the last references to be released, and records an issue for what is open. It does not
/// check a test that throws, which may have skipped its clean-up.
///
/// **Scope.** The trait counts each `HTTPTransport`, that is, each session over sockets with its connections, and each
/// `MockServer` and `FaultProxy` that the test makes in its task or in a task that inherits task-local values. It does
/// not see what detached tasks and dispatch queues make. It tells tests that run in parallel apart. A session that
/// tests share, such as a static property, is reported for the first test that uses it: the trait is for tests that
/// make their sessions. It does not count objects that are closed and still referenced.
public struct LeavesNothingOpenTrait: SuiteTrait, TestTrait, TestScoping {
    /// True: the trait of a suite applies to each test in it.
    public let isRecursive = true

    private let patience: Duration

    init(patience: Duration = .seconds(5)) {
        self.patience = patience
    }

    /// Runs the test, then reports what it left open.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let ledger = ResourceLedger()
        try await ResourceLedger.$current.withValue(ledger) { try await function() }
        let left = await left(in: ledger)
        guard !left.isEmpty else { return }
        Issue.record("The test left open: \(left.joined(separator: "; "))", sourceLocation: test.sourceLocation)
    }

    /// There is no notification when an object is released, so the check is repeated at increasing intervals.
    private func left(in ledger: ResourceLedger) async -> [String] {
        let clock = ContinuousClock()
        let deadline = clock.now + patience
        var pause = Duration.microseconds(100)
        while true {
            let left = ledger.open
            guard !left.isEmpty, clock.now < deadline else { return left }
            // A test that was cancelled, for example by its time limit, gets no time.
            do { try await Task.sleep(for: pause) } catch { return left }
            pause = min(pause * 2, .milliseconds(50))
        }
    }
}

extension Trait where Self == LeavesNothingOpenTrait {
    /// Requires that the sessions and test servers that the test makes are shut down or released at its end.
    public static var leavesNothingOpen: Self { Self() }
}
