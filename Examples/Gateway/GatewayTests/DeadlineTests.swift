import GatewayServer
import HTTPTypes
import Linnet
import LinnetTesting
import Testing

@Suite(.timeLimit(.minutes(1)))
struct DeadlineTests {
    private func field() throws -> HTTPField.Name { try #require(HTTPField.Name("X-Request-Timeout-Ms")) }

    @Test func theTimeThatIsLeftIsPassedOn() async throws {
        let name = try field()
        try await withGateway { request in
            .text(request.headerFields[name] ?? "none")
        } perform: { gateway in
            let short = try #require(Int(try await gateway.get("/api/x", [name: "20000"]).text))
            #expect((1...20_000).contains(short))
            let long = try #require(Int(try await gateway.get("/api/x", [name: "999999999"]).text))
            #expect((1...30_000).contains(long))
            let none = try #require(Int(try await gateway.get("/api/x").text))
            #expect((1...30_000).contains(none))
        }
    }

    @Test func theEndOfTheTimeIsAGatewayTimeout() async throws {
        let name = try field()
        try await withGateway { _ in
            .text("never").with(.init(.stall, at: .responseHead))
        } perform: { gateway in
            let (head, text) = try await gateway.get("/api/x", [name: "50"])
            #expect(head.status == .gatewayTimeout)
            #expect(text.contains("\"status\":504"))
            try await wait { gateway.upstream.openConnections == 0 }
        }
    }

    @Test func theGatewayHasATimeOfItsOwn() async throws {
        try await withGateway(settings: { $0.timeout = .milliseconds(50) }) { _ in
            .text("never").with(.init(.stall, at: .responseHead))
        } perform: { gateway in
            try await gateway.expect(.gatewayTimeout, for: "/api/x")
        }
    }

    @Test func aTimeThatIsOverIsNotSent() async throws {
        let name = try field()
        try await withGateway { _ in
            .text("never")
        } perform: { gateway in
            try await gateway.expect(.gatewayTimeout, for: "/api/x", [name: "0"])
            #expect(gateway.upstream.recordedRequests.isEmpty)
        }
    }

    @Test(arguments: ["", "-1", "1.5", "1e3", "99999999999999999999", "10 ms"])
    func aTimeThatIsNoNumberIsRefused(value: String) async throws {
        let name = try field()
        try await withGateway { _ in
            .text("never")
        } perform: { gateway in
            try await gateway.expect(.badRequest, for: "/api/x", [name: value])
            #expect(gateway.upstream.recordedRequests.isEmpty)
        }
    }
}
