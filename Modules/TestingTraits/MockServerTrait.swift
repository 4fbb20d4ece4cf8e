public import LinnetTesting
public import Testing

/// Starts a `MockServer` before a test, and shuts it down afterwards: the trait `.mockServer`.
///
/// ```swift
/// @Test(.mockServer(routes: .init { $0.on(.get, "/posts", .json("[]")) }))
/// func thereAreNoPosts() async throws {
///     let client = try PostsClient(baseURL: MockServer.current.url)
///     #expect(try await client.posts().isEmpty)
/// }
/// ```
/// Each case of each test has a separate server, also if the trait is one of a suite, so that tests can run in
/// parallel. The trait of a test replaces the trait of its suite.
///
/// After the test the trait records an issue if requests had no route, if a script had no response left for a request,
/// or, unless the test throws, if responses of a script were not requested.
public struct MockServerTrait: SuiteTrait, TestTrait, TestScoping {
    /// Creates the identity of a server over TLS with the authorities of the test, `TestPKI.current`.
    public typealias MakeIdentity = @Sendable (TestPKI) throws -> TestPKI.Identity

    /// True: the trait of a suite applies to each test in it.
    public let isRecursive = true

    let makeAnswers: @Sendable () -> any MockAnswers
    let makeIdentity: MakeIdentity?
    let configuration: MockServer.Configuration

    /// Starts the server, runs the test, shuts the server down, and reports requests that had no answer.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let answers = makeAnswers()
        let pki = try makeIdentity.map { _ in try TestPKI() }
        let identity = try pki.flatMap { try makeIdentity?($0) }
        let server = try await MockServer.start(
            tls: identity, configuration: configuration, handler: { await answers.respond(to: $0) })
        MockServerScope.current?.replace()
        let scope = MockServerScope(server: server, pki: pki)
        do {
            try await MockServerScope.$current.withValue(scope) { try await function() }
        } catch {
            await server.shutdown()
            report(answers.unanswered, test)
            throw error
        }
        await server.shutdown()
        report(answers.unanswered ?? (scope.isReplaced ? nil : answers.unrequested), test)
    }

    private func report(_ problem: String?, _ test: Test) {
        if let problem { Issue.record("\(problem)", sourceLocation: test.sourceLocation) }
    }
}
