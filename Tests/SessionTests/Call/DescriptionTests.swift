import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(1)))
struct DescriptionTests {
    @Test func aRequestIsPrintedWithoutSecrets() throws {
        let url = try #require(URL(string: "https://user:pw@h/p?token=abc&page=2"))
        let request = SessionRequest(url: url, headerFields: [.authorization: "Bearer secret", .accept: "text/csv"])
        for text in ["\(request)", request.debugDescription, String(reflecting: request)] {
            #expect(!text.contains("secret") && !text.contains("abc") && !text.contains("pw"))
            #expect(text.contains("GET") && text.contains("page=2") && text.contains("text/csv"))
        }
    }

    @Test func anErrorNamesTheURLAndTheStatusInOneSentence() async throws {
        let client = try makeClient(StubTransport { _ in .status(404) })
        let error = try #require(
            await #expect(throws: SessionError.self) { try await client.get("x", ["token": "abc"]).response() })
        #expect(error.description.contains("http://example.com/api/x"))
        #expect(error.description.contains("status 404"))
        #expect(error.description.hasSuffix(")."))
        #expect(!error.description.contains("abc"))
        #expect((error as any LocalizedError).errorDescription == error.message)
    }

    @Test func callsResponsesAndSessionsAreReadable() async throws {
        let client = try makeClient(StubTransport { _ in .json("41") })
        #expect("\(client)" == "HTTPSession(http://example.com/api/)")
        #expect("\(client.get("x"))" == "GET x")
        #expect(!"\(client.get("https://user:pw@h/x?token=abc"))".contains("abc"))
        #expect(!"\(client.get("https://user:pw@h/x?token=abc"))".contains("pw"))
        #expect("\(try await client.get("x").response())" == "200 OK from http://example.com/api/x, 2 bytes")
    }

    @Test func problemDetailsAreRead() async throws {
        struct Extension: Decodable { let balance: Int }
        let text = #"{"type": "https://h/credit", "title": "No credit", "status": 403, "detail": 7, "balance": 30}"#
        let client = try makeClient(
            StubTransport { _ in
                .status(403, headerFields: [.contentType: "application/problem+json"], body: Data(text.utf8))
            })
        let error = try #require(await #expect(throws: SessionError.self) { try await client.get("x").response() })
        let problem = try #require(error.problem)
        #expect(problem.type == "https://h/credit" && problem.title == "No credit" && problem.status == 403)
        #expect(problem.detail == nil)
        #expect(problem.members["balance"]?.int == 30)
        #expect(try error.decoded(as: Extension.self).balance == 30)
        let wrong = #expect(throws: SessionError.self) { try error.decoded(as: [Int].self) }
        #expect(wrong?.code == .decodingFailed)
    }
}
