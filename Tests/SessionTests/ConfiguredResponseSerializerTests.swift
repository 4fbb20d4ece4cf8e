import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

/// `HTTPSession.Configuration.responseSerializer`, with requests.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct ConfiguredResponseSerializerTests {
    /// The functions that read a response as JSON with the session's serializer.
    enum Reader: CaseIterable, Sendable {
        case json, task, get, post, put, patch, delete

        func read(_ client: HTTPSession) async -> Result<JSONValue?, SessionError> {
            let method: HTTPRequest.Method
            switch self {
            case .json:
                return await Result { () async throws(SessionError) in try await client.get("x").json() }
            case .task:
                let task = client.get("x").jsonTask()
                return await Result { () async throws(SessionError) in try await task.value.value }
            case .get: method = .get
            case .post: method = .post
            case .put: method = .put
            case .patch: method = .patch
            case .delete: method = .delete
            }
            return await Surface.callbacks.send("x", method: method, with: client).map { $0.value }
        }
    }

    private struct Reason: Decodable, Equatable, Sendable { let why: String }

    private func client(
        _ response: StubTransport.Response, change: (inout JSONResponseSerializer) -> Void
    ) throws -> HTTPSession {
        try makeClient(StubTransport { _ in response }) { change(&$0.responseSerializer) }
    }

    @Test(arguments: Reader.allCases)
    func theSerializersStatusesAreAccepted(reader: Reader) async throws {
        for (status, isAccepted) in [(HTTPResponse.Status.notFound, true), (HTTPResponse.Status.ok, false)] {
            let client = try client(.json(#"{"why": "gone"}"#, status: status)) {
                $0.validation.statusCodes = RangeSet(404..<405)
            }
            let outcome = await reader.read(client)
            let refusal: SessionError.Code? = isAccepted ? nil : .unacceptableStatus
            #expect(outcome.error?.code == refusal)
            #expect(isAccepted || outcome.error?.head?.status == status)
            let value = outcome.success.flatMap { $0 }
            #expect((value?["why"]?.string == "gone") == isAccepted)
        }
    }

    @Test(arguments: Reader.allCases)
    func theSerializersContentTypesAreAccepted(reader: Reader) async throws {
        for (type, isAccepted) in [("text/x-json", true), ("application/json", false)] {
            let response = StubTransport.Response.status(
                .ok, headerFields: [.contentType: type], body: Data(#"{"why": "gone"}"#.utf8))
            let client = try client(response) { $0.validation.contentTypes = ["text/x-json"] }
            let outcome = await reader.read(client)
            let refusal: SessionError.Code? = isAccepted ? nil : .unacceptableContentType
            #expect(outcome.error?.code == refusal)
            let value = outcome.success.flatMap { $0 }
            #expect((value?["why"]?.string == "gone") == isAccepted)
        }
    }

    @Test(arguments: Reader.allCases)
    func nullValuesAreRemovedIfTheSerializerRemovesThem(reader: Reader) async throws {
        let text = #"{"a": null, "b": [1, null, {"c": null}]}"#
        let removed: JSONValue = ["b": [1, [:]]]
        let kept: JSONValue = ["a": nil, "b": [1, nil, ["c": nil]]]
        for (removes, expected) in [(true, removed), (false, kept)] {
            let client = try client(.json(text)) { $0.removesNullValues = removes }
            #expect(try await reader.read(client).get() == expected)
        }
    }

    @Test(arguments: Reader.allCases)
    func theSerializersOptionsReadTheText(reader: Reader) async throws {
        for isAllowed in [true, false] {
            let client = try client(.json(#""gone""#)) { $0.options.allowsFragments = isAllowed }
            let outcome = await reader.read(client)
            let refusal: SessionError.Code? = isAllowed ? nil : .decodingFailed
            #expect(outcome.error?.code == refusal)
            let value = outcome.success.flatMap { $0 }
            #expect((value?.string == "gone") == isAllowed)
        }
    }

    @Test func theSerializerValidatesResponsesDecodedAsAType() async throws {
        for (status, isAccepted) in [(HTTPResponse.Status.notFound, true), (HTTPResponse.Status.ok, false)] {
            let client = try client(.json(#"{"why": "gone"}"#, status: status)) {
                $0.validation.statusCodes = RangeSet(404..<405)
            }
            let outcomes = [
                await Result { () async throws(SessionError) in try await client.get("x").value(as: Reason.self) },
                await Result { () async throws(SessionError) in
                    try await client.get("x").response(as: Reason.self).value
                },
                await Result { () async throws(SessionError) in
                    try await client.get("x").task(as: Reason.self).value.value
                },
            ]
            let expected: Reason? = isAccepted ? Reason(why: "gone") : nil
            let refusal: SessionError.Code? = isAccepted ? nil : .unacceptableStatus
            for outcome in outcomes {
                #expect(outcome.success == expected)
                #expect(outcome.error?.code == refusal)
            }
        }
    }

    /// The serializer of a call judges its response alone.
    @Test func aCallsOwnSerializerReplacesTheSessions() async throws {
        let client = try client(.json(#"{"a": null}"#)) {
            $0.validation.statusCodes = RangeSet(404..<405)
            $0.removesNullValues = true
        }
        #expect(try await client.get("x").response(.json).value?["a"] == JSONValue.null)
        #expect(try await client.get("x").text() == #"{"a": null}"#)
    }
}
