import HTTPTypes
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct MockServerRoutesTests {
    static let routes = MockServer.Routes {
        $0.on(.get, "/posts", .json("[]"))
        $0.on(.post, "/posts") { request in .text(request.bodyText, status: .created) }
        $0.on("/files/*") { request in .text("file \(request.path)") }
    }

    @Test(arguments: [
        ("GET /posts?page=1", "200", "[]"), ("POST /posts", "201", ""), ("HEAD /posts", "200", ""),
        ("DELETE /posts", "405", ""), ("PUT /files/a/b", "200", "file /files/a/b"), ("GET /files", "404", ""),
        ("GET /nowhere", "404", ""),
    ])
    func theMatchingRouteAnswers(_ line: String, _ status: String, _ body: String) async throws {
        let text = try await withMockServer(routes: Self.routes) { server in
            try await transcript(of: "\(line) HTTP/1.0\r\n\r\n", port: server.port)
        }
        #expect(text.hasPrefix("HTTP/1.1 \(status) "))
        #expect(text.hasSuffix("\r\n\r\n" + body))
    }
}
