internal import LinnetTransport
public import Testing

/// Keeps Linnet off the network during a test, and fails a test that needs it: the trait `.withoutNetwork`.
///
/// ```swift
/// @Suite(.withoutNetwork) struct PostsClientTests { … }
/// ```
/// A connection of an `HTTPTransport` to an address beyond loopback is not made, and fails with `connectionFailed`; a
/// name other than `localhost` and the names below it is not looked up, and fails with `nameResolutionFailed`. After
/// the test, an issue names them. Addresses of `Resolution.hostOverrides` and cached ones count when they are connected
/// to. Unix sockets are allowed, and so is a proxy on a loopback address, whose own connections are unknown.
///
/// **Scope.** The trait confines all transports of the process, also of WebSockets, OAuth and background transfers,
/// whether the test made them or not. A test without the trait that runs in parallel is confined too, and its
/// connections are issues of the tests with the trait: put the trait on all tests that run in parallel. The trait does
/// not confine host monitors of LinnetReachability, the PostgreSQL of LinnetBackgroundPostgres, and other libraries.
public struct WithoutNetworkTrait: SuiteTrait, TestTrait, TestScoping {
    /// True: the trait of a suite applies to each test in it.
    public let isRecursive = true

    /// Runs the test under the confinement, then reports what was refused.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let confinement = LoopbackConfinement.begin()
        defer {
            let refused = confinement.end()
            if !refused.isEmpty {
                Issue.record(
                    "A test without network attempted \(refused.joined(separator: ", "))",
                    sourceLocation: test.sourceLocation)
            }
        }
        try await function()
    }
}

extension Trait where Self == WithoutNetworkTrait {
    /// Confines Linnet to loopback addresses and unix sockets during the test. A connection or look-up beyond them
    /// fails without reaching the network, and is an issue of the test.
    public static var withoutNetwork: Self { Self() }
}
