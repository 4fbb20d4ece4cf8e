import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct SessionErrorTests {
    @Test(arguments: [
        (TransportError.Code.cancelled, SessionError.Code.cancelled),
        (.nameResolutionFailed, .nameResolutionFailed), (.connectionFailed, .connectionFailed),
        (.connectionClosed, .connectionLost), (.tlsTruncated, .connectionLost), (.tlsHandshakeFailed, .tlsFailed),
        (.tlsProtocolError, .tlsFailed), (.trustRefused, .trustRefused), (.invalidResponse, .invalidResponse),
        (.headTooLarge, .invalidResponse), (.tooManyInformationalResponses, .invalidResponse),
        (.bodyTooLarge, .bodyTooLarge), (.invalidRequest, .invalidRequest), (.requestBodyFailed, .requestBodyFailed),
        (.invalidConfiguration, .invalidConfiguration), (.shutDown, .shutDown),
    ])
    func transportErrorsHaveTheirCodes(code: TransportError.Code, expected: SessionError.Code) async throws {
        let error = try await failure { _ in throw TransportError(code, "Why.") }
        #expect(error.code == expected)
        #expect(error.message == "Why.")
        #expect((error.underlying as? TransportError)?.code == code)
        #expect(error.url?.absoluteString == "http://example.com/x")
    }

    @Test(arguments: [
        (TransportError.Code.poolTimeout, SessionError.Timeout.poolWait), (.connectTimeout, .connect),
        (.tlsTimeout, .tlsHandshake), (.readTimeout, .idleRead), (.writeTimeout, .idleWrite),
        (.requestTimeout, .request),
    ])
    func timeoutsSayWhich(code: TransportError.Code, timeout: SessionError.Timeout) async throws {
        let error = try await failure { _ in throw TransportError(code, "Why.") }
        #expect(error.code == .timeout)
        #expect(error.timeout == timeout)
    }

    @Test(arguments: [
        (SerializationError.Code.unacceptableStatus, SessionError.Code.unacceptableStatus),
        (.unacceptableContentType, .unacceptableContentType), (.decodingFailed, .decodingFailed),
        (.nestedTooDeep, .decodingFailed), (.encodingFailed, .encodingFailed),
    ])
    func serializationErrorsHaveTheirCodes(code: SerializationError.Code, expected: SessionError.Code) async throws {
        let session = try HTTPSession(transport: StubTransport { _ in .json("{}") })
        let error = await #expect(throws: SessionError.self) {
            try await session.call(makeRequest()).response(FailingResponseSerializer(code: code))
        }
        #expect(error?.code == expected)
        #expect(error?.head?.status == .ok)
        #expect(error?.body == Data("{}".utf8))
    }

    @Test func aRefusedCertificateBringsItsRefusal() async throws {
        let refusal = TrustRefusal(
            .pinMismatch, "No pin matched.", trust: ServerTrust(host: "example.com", port: 443, presentedChain: []))
        let error = try await failure { _ in
            throw TransportError(.trustRefused, "No pin matched.", trustRefusal: refusal)
        }
        #expect(error.code == .trustRefused)
        #expect(error.trustRefusal?.reason == .pinMismatch)
        #expect(error.trustRefusal?.host == "example.com")
    }

    @Test func aLengthBelowZeroNeverGoesOut() async throws {
        let transport = StubTransport()
        let body = HTTPRequestBody.chunks(AsyncStream<Data> { $0.finish() }, length: -5)
        let error = await #expect(throws: SessionError.self) {
            try await HTTPSession(transport: transport).call(makeRequest(method: .post, body: body)).response()
        }
        #expect(error?.code == .invalidRequest)
        #expect(transport.requests.isEmpty)
    }

    @Test func aConfigurationThatThrowsIsInvalid() {
        struct Oops: Error {}
        let error = #expect(throws: SessionError.self) { try HTTPSession { _ in throw Oops() } }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.underlying is Oops)
    }

    @Test(arguments: ["Oops", "Oops."])
    func theTextOfAnotherErrorEndsWithOneFullStop(text: String) async throws {
        struct Failure: Error, CustomStringConvertible { let description: String }
        let client = try makeClient { $0.hooks.didReceiveResponse = { _, _ in throw Failure(description: text) } }
        let error = await #expect(throws: SessionError.self) { try await client.get("x").response() }
        #expect(error?.message == "A hook failed: Oops.")
    }

    private func failure(_ handler: @escaping StubTransport.Handler) async throws -> SessionError {
        let session = try HTTPSession(transport: StubTransport(handler))
        return try #require(
            await #expect(throws: SessionError.self) { try await session.call(makeRequest()).response() })
    }
}

private struct FailingResponseSerializer: ResponseSerializer {
    let code: SerializationError.Code

    func serialize(_ response: SerializedResponse) throws(SerializationError) -> Data {
        throw SerializationError(code: code, message: "No.", response: response)
    }
}
