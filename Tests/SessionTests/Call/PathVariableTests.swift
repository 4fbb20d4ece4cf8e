import FoundationEssentials
import LinnetSerialization
import LinnetTesting
import LinnetTransport
import Testing

@testable import LinnetSession

@Suite("Path variables", .leavesNothingAlive)
struct PathVariableTests {
    private func request(
        _ path: String, _ values: RequestParameters, base: String = "https://api.example/v1"
    ) async throws -> SessionRequest {
        let session = try HTTPSession(baseURL: URL(string: base), transport: StubTransport { _ in .json("{}") })
        let request = Result { try session.get(path).pathVariables(values).request() }
        await session.shutdown()
        return try request.get()
    }

    @Test(
        arguments: [
            ("users/{id}", ["id": 7], "https://api.example/v1/users/7", "/v1/users/{id}"),
            ("/users/{id}", ["id": "a/b c%?#é"], "https://api.example/users/a%2Fb%20c%25%3F%23%C3%A9", "/users/{id}"),
            (
                "{a}/{b}/{a}?q={c}", ["a": true, "b": 1.5], "https://api.example/v1/true/1.5/true?q=%7Bc%7D",
                "/v1/{a}/{b}/{a}"
            ),
            ("https://b.example/{x}", ["x": "{y}"], "https://b.example/%7By%7D", "/{x}"),
        ] as [(String, RequestParameters, String, String)])
    func namesAreReplaced(path: String, values: RequestParameters, url: String, template: String) async throws {
        let request = try await request(path, values)
        #expect(request.url.absoluteString == url)
        #expect(request.options.template == template)
    }

    @Test(
        arguments: [
            ("users/{id}", [:]), ("users/{id}", ["id": 1, "x": 2]), ("users/{id", ["id": 1]),
            ("users/{id}", ["id": ""]), ("users/{id}", ["id": ".."]), ("users/{id}", ["id": "."]),
            ("users/{id}", ["id": [1, 2]]), ("users/{id}", ["id": ParameterValue.null]),
        ] as [(String, RequestParameters)])
    func aBadTemplateFailsTheCall(path: String, values: RequestParameters) async throws {
        await #expect(throws: SessionError.self) { try await request(path, values) }
        do {
            _ = try await request(path, values)
        } catch let error as SessionError {
            #expect(error.code == .invalidURL)
        }
    }

    @Test func aGivenTemplateIsKept() async throws {
        let session = try HTTPSession(
            baseURL: URL(string: "https://api.example"), transport: StubTransport { _ in .json("{}") })
        let request = try session.get("users/{id}").pathVariables(["id": 7]).options { $0.template = "/u" }.request()
        #expect(request.options.template == "/u")
        #expect(try session.get("users/7").request().options.template == nil)
        let call = session.call(SessionRequest(url: URL(string: "https://api.example/{id}")!))
        #expect(throws: SessionError.self) { try call.pathVariables(["id": 7]).request() }
        await session.shutdown()
    }
}
