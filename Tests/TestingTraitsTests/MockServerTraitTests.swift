import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetSession
import LinnetTesting
import LinnetTestingTraits
import Synchronization
import Testing

/// `.mockServer` on tests, on a suite, and the issues that it records.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)), .mockServer(.text("suite")))
struct MockServerTraitTests {
    private static let routes = MockServer.Routes {
        $0.on(.get, "/a", .text("one"))
        $0.on("/b") { request in .text(request.bodyText) }
    }

    /// The body of a response of the test's server.
    private static func text(
        _ path: String, _ configure: (inout HTTPSession.Configuration) throws -> Void = { _ in }
    ) async throws -> String {
        try await HTTPSession(baseURL: MockServer.current.url, configure).get(path).text()
    }

    /// The status with which the test's server refuses a request.
    private static func refusal(_ path: String) async throws -> Int? {
        let error = await #expect(throws: SessionError.self) { try await text(path) }
        return error?.head?.status.code
    }

    @Test(.mockServer(routes: routes))
    func routesAnswerTheRequestsOfATest() async throws {
        #expect(try await Self.text("/a") == "one")
        #expect(try MockServer.current.recordedRequests.map(\.path) == ["/a"])
    }

    @Test(.mockServer(handler: { .text("\($0.method) \($0.path)") }))
    func aClosureAnswersTheRequestsOfATest() async throws {
        #expect(try await Self.text("/c") == "GET /c")
    }

    @Test(.mockServer(script: [.text("one"), .text("two")]), arguments: 1...2)
    func eachCaseGetsAllResponsesOfTheScript(number: Int) async throws {
        #expect(try await Self.text("/") == "one")
        #expect(try await Self.text("/") == "two")
    }

    @Test(arguments: 1...3)
    func eachCaseOfASuiteWithTheTraitHasASeparateServer(number: Int) async throws {
        #expect(try MockServer.current.recordedRequests.isEmpty)
        #expect(try await Self.text("/\(number)") == "suite")
        #expect(try MockServer.current.recordedRequests.map(\.path) == ["/\(number)"])
    }

    @Suite struct Nested {
        @Test func theTraitAppliesToNestedSuites() async throws {
            #expect(try await MockServerTraitTests.text("/") == "suite")
        }
    }

    @Test func tasksOfTheTestHaveTheServer() async throws {
        let url = try MockServer.current.url
        async let child = MockServer.current.url
        #expect(try await child == url)
        #expect(try await Task { try MockServer.current.url }.value == url)
        await #expect(throws: TestingError.self) { try await Task.detached { try MockServer.current.url }.value }
    }

    @Test(.mockServer(.text("secure"), tls: { try $0.identity() }))
    func theCertificateOfAServerOverTLSIsIssuedByTheAuthoritiesOfTheTest() async throws {
        #expect(try MockServer.current.url.scheme == "https")
        let text = try await Self.text("/") {
            $0.securityPolicy = .systemTrust(anchors: try .certificates([TestPKI.current.root]))
        }
        #expect(text == "secure")
    }

    @Test(.mockServer(.text("h2"), configuration: MockServer.Configuration { $0.httpVersions = .http2 }))
    func theServerHasTheConfiguration() async throws {
        #expect(try await Self.text("/") { $0.httpVersions = .http2 } == "h2")
    }

    @Test func aServerWithoutTLSHasNoAuthorities() async {
        let error = #expect(throws: TestingError.self) { try TestPKI.current }
        #expect(error?.code == .noMockServer)
    }

    @Test func requestsWithoutARouteAreAnIssue() async throws {
        try await expectIssue("Requests without a route: 1, the first of them GET /c.") {
            try await run(.mockServer(routes: Self.routes)) {
                let status = try await Self.refusal("/c")
                #expect(status == 404)
            }
        }
        // The path has a route, and the method has none.
        try await expectIssue("Requests without a route: 2, the first of them POST /a?x=1.") {
            try await run(.mockServer(routes: Self.routes)) {
                let session = try HTTPSession(baseURL: MockServer.current.url)
                for path in ["/a?x=1", "/a"] {
                    let error = await #expect(throws: SessionError.self) { try await session.post(path).data() }
                    #expect(error?.head?.status.code == 405)
                }
            }
        }
    }

    @Test func aScriptThatRunsDryIsAnIssue() async throws {
        try await expectIssue("Requests for which the script had no response left: 1, the first of them GET /x.") {
            try await run(.mockServer(script: [])) {
                let status = try await Self.refusal("/x")
                #expect(status == 500)
            }
        }
    }

    @Test func responsesThatNoRequestGotAreAnIssue() async throws {
        try await expectIssue("Responses of the script that were not requested: 1.") {
            try await run(.mockServer(script: [.text("a"), .text("b")])) { _ = try await Self.text("/") }
        }
    }

    @Test func aTestThatThrowsIsReportedForItsRequestsOnly() async throws {
        await #expect(throws: Failure.self) {
            try await run(.mockServer(script: [.text("a")])) { throw Failure() }
        }
        try await expectIssue("Requests without a route: 1, the first of them GET /c.") {
            await #expect(throws: Failure.self) {
                try await run(.mockServer(routes: Self.routes)) {
                    #expect(try await Self.refusal("/c") == 404)
                    throw Failure()
                }
            }
        }
    }

    @Test func theTraitOfATestReplacesTheTraitOfItsSuite() async throws {
        try await run(.mockServer(script: [.text("outer")])) {
            try await run(.mockServer(.text("inner"))) {
                let text = try await Self.text("/")
                #expect(text == "inner")
            }
        }
    }

    @Test(arguments: [false, true])
    func theServerIsShutDownWithTheTest(fails: Bool) async throws {
        let servers = Mutex<[MockServer]>([])
        try? await run(.mockServer(.text(""))) {
            let server = try MockServer.current
            servers.withLock { $0.append(server) }
            if fails { throw Failure() }
        }
        let server = try #require(servers.withLock { $0.first })
        let error = await #expect(throws: TestingError.self) { try await server.nextRequest() }
        #expect(error?.code == .shutDown)
    }

    @Test func aServerThatCannotStartFailsTheTest() async throws {
        let error = await #expect(throws: TestingError.self) {
            let configuration = MockServer.Configuration { $0.hostName = "no host" }
            try await run(.mockServer(.text(""), configuration: configuration)) { Issue.record("The test ran.") }
        }
        #expect(error?.code == .invalidConfiguration)
    }
}

@Suite(.leavesNothingAlive, .timeLimit(.minutes(2)))
struct NoMockServerTests {
    @Test func aTestWithoutTheTraitHasNoServer() {
        let error = #expect(throws: TestingError.self) { try MockServer.current }
        #expect(error?.code == .noMockServer)
    }
}
