public import LinnetTesting
internal import Synchronization

/// The server of a test.
final class MockServerScope: Sendable {
    @TaskLocal static var current: MockServerScope?

    let server: MockServer
    /// The authorities of a server over TLS.
    let pki: TestPKI?
    private let wasReplaced = Atomic(false)

    init(server: MockServer, pki: TestPKI?) {
        self.server = server
        self.pki = pki
    }

    /// Whether the test has another server in place of this one.
    var isReplaced: Bool { wasReplaced.load(ordering: .relaxed) }

    /// Records that the test has another server.
    func replace() { wasReplaced.store(true, ordering: .relaxed) }

    fileprivate static func required() throws(TestingError) -> MockServerScope {
        if let current { return current }
        throw TestingError(
            .noMockServer,
            "This task belongs to no test with a server: add the trait .mockServer to the test or to its suite.")
    }
}

extension MockServer {
    /// The server of the trait `.mockServer`, in the test's task and the tasks that it makes, except for detached ones.
    ///
    /// - Throws: `TestingError` with `noMockServer` when the task belongs to no test with the trait.
    public static var current: MockServer {
        get throws(TestingError) { try MockServerScope.required().server }
    }
}

extension TestPKI {
    /// The authorities that have issued the certificate of `MockServer.current`.
    ///
    /// - Throws: `TestingError` with `noMockServer` when the task belongs to no test with a server over TLS.
    public static var current: TestPKI {
        get throws(TestingError) {
            if let pki = try MockServerScope.required().pki { return pki }
            throw TestingError(
                .noMockServer, "The server of this test is one without TLS: pass tls: to the trait .mockServer.")
        }
    }
}
