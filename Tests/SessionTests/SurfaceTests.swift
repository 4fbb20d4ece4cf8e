import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct SurfaceTests {
    @Test(arguments: Surface.allCases, [HTTPRequest.Method.get, .post, .put, .patch, .delete])
    func everyVerbSendsItsMethodAndReadsJSON(surface: Surface, method: HTTPRequest.Method) async throws {
        let transport = StubTransport { _ in .json(#"{"a": [1, true]}"#) }
        let client = try makeClient(transport)
        let response = try await surface.send("things", method: method, with: client).get()
        #expect(response.value?["a"]?[1] == true)
        #expect(response.status == .ok)
        #expect(response.metrics.count == 1)
        #expect(String(decoding: response.data, as: UTF8.self) == #"{"a": [1, true]}"#)
        #expect(transport.requests.map(\.head.method) == [method])
        #expect(transport.requests.first?.head.path == "/api/things")
        #expect(transport.requests.first?.head.authority == "example.com")
    }

    @Test(arguments: Surface.allCases)
    func aFailureCarriesTheResponse(surface: Surface) async throws {
        let client = try makeClient(StubTransport { _ in .json(#"{"why": "gone"}"#, status: 410) })
        let error = await surface.send("x", with: client).error
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.head?.status.code == 410)
        #expect(error?.body == Data(#"{"why": "gone"}"#.utf8))
        #expect(error?.url?.absoluteString == "http://example.com/api/x")
        #expect(error?.metrics.count == 1)
        #expect(error?.underlying is SerializationError)
    }

    @Test(arguments: Surface.allCases)
    func badURLsFailOnEverySurface(surface: Surface) async throws {
        let transport = StubTransport()
        let client = try makeClient(transport)
        let error = await surface.send("ftp://example.com/x", with: client).error
        #expect(error?.code == .invalidURL)
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: Surface.allCases)
    func badParametersFailOnEverySurface(surface: Surface) async throws {
        let client = try makeClient()
        let error = await surface.send("x", parameters: [1, 2], with: client).error
        #expect(error?.code == .invalidParameters)
    }

    @Test(arguments: Surface.allCases)
    func badJSONIsADecodingFailure(surface: Surface) async throws {
        let client = try makeClient(StubTransport { _ in .json("{") })
        let error = await surface.send("x", with: client).error
        #expect(error?.code == .decodingFailed)
        #expect(error?.body == Data("{".utf8))
    }

    @Test(arguments: Surface.allCases)
    func timeoutsAreTheRequestsThenTheSessions(surface: Surface) async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport) { configuration in
            configuration.timeouts.idleRead = .seconds(3)
            configuration.timeouts.connect = .seconds(4)
        }
        var options = RequestOptions()
        options.connectTimeout = .seconds(1)
        options.timeout = .seconds(100)
        _ = try await surface.send("x", options: options, with: client).get()
        let timeouts = try #require(transport.requests.first?.timeouts)
        #expect(timeouts.idleRead == .seconds(3))
        #expect(timeouts.connect == .seconds(1))
        let whole = try #require(timeouts.request)
        #expect(whole > .zero && whole <= .seconds(100))
    }

    @Test(arguments: Surface.allCases)
    func aTimeoutThatIsOverSendsNothing(surface: Surface) async throws {
        let transport = StubTransport()
        let client = try makeClient(transport)
        var options = RequestOptions()
        options.timeout = .zero
        let error = await surface.send("x", options: options, with: client).error
        #expect(error?.code == .timeout)
        #expect(error?.timeout == .request)
        #expect(transport.requests.isEmpty)
    }

    @Test(arguments: Surface.allCases)
    func bodiesAboveTheLimitAreRefused(surface: Surface) async throws {
        let client = try makeClient(StubTransport { _ in .json("[1, 2, 3]") }) { $0.maximumBodySize = 8 }
        #expect(await surface.send("x", with: client).error?.code == .bodyTooLarge)
    }

    @Test func onlyHandlesStream() async throws {
        let transport = StubTransport { _ in .json("1") }
        let client = try makeClient(transport)
        for surface in Surface.allCases { _ = await surface.send("x", with: client) }
        let asked = transport.requests.map { $0.delivery == .streamed }
        #expect(asked == [false, true, true])
    }
}
