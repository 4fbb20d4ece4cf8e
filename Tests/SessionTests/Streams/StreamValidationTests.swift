import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Testing

@Suite("The validation of streams", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct StreamValidationTests {
    /// The surfaces that hand out a stream.
    enum Handing: CaseIterable, Sendable {
        case bytes, streamTask, lines, jsonLines

        /// The bytes that are read from a response.
        func read(_ call: HTTPCall) async throws -> String {
            switch self {
            case .bytes: return try await text(call.bytes().body)
            case .streamTask: return try await text(call.streamTask().response.body)
            case .lines: return try await call.lines().reduce("") { $0 + $1 }
            case .jsonLines: return try await call.jsonLines(of: Int.self).reduce("") { "\($0)\($1)" }
            }
        }

        func read(_ call: HTTPCall, _ validation: ResponseValidation) async throws -> String {
            switch self {
            case .bytes: return try await text(call.bytes(validation: validation).body)
            case .streamTask: return try await text(call.streamTask(validation: validation).response.body)
            case .lines: return try await call.lines(validation: validation).reduce("") { $0 + $1 }
            case .jsonLines:
                return try await call.jsonLines(of: Int.self, validation: validation).reduce("") { "\($0)\($1)" }
            }
        }

        private func text(_ body: HTTPResponseBody) async throws -> String {
            String(decoding: try await body.collect(upTo: 1 << 20), as: UTF8.self)
        }
    }

    @Test(arguments: Handing.allCases, SecondReadTests.Arrival.allCases)
    func anErrorPageFailsUnlessItIsAccepted(handing: Handing, arrival: SecondReadTests.Arrival) async throws {
        let session = try makeClient(StubTransport { _ in arrival.response("404", status: .notFound) })
        let ends = EventRecorder<SessionError?>()
        var hooks = TaskHooks()
        hooks.didComplete = { _, error in ends.record(error) }
        let call = session.get("a").hooks(hooks)
        let error = await sessionError { try await handing.read(call) }
        #expect(error?.code == .unacceptableStatus && error?.head?.status == .notFound)
        #expect(error?.body == Data("404".utf8))
        #expect(error?.url?.lastPathComponent == "a" && error?.metrics.count == 1)
        try await ends.wait(count: 1)
        #expect(try await handing.read(call, .none) == "404")
        try await ends.wait(count: 2)
        #expect(ends.events.map { $0?.code } == [.unacceptableStatus, nil])
        await session.shutdown()
    }

    @Test(arguments: Handing.allCases)
    func aContentTypeIsJudgedByTheHead(handing: Handing) async throws {
        let numbers = ResponseValidation(contentTypes: ["text/*"])
        for (type, length, code) in [
            ("text/plain", nil, nil), ("image/png", nil, .unacceptableContentType),
            (nil, nil, .unacceptableContentType), (nil, "1", .unacceptableContentType), (nil, "0", nil),
        ] as [(String?, String?, SessionError.Code?)] {
            var fields = HTTPFields()
            fields[.contentType] = type
            fields[.contentLength] = length
            let text = length == "0" ? "" : "1"
            let session = try makeClient(
                StubTransport { [fields] _ in SecondReadTests.Arrival.streamed.response(text, fields) })
            let error = await sessionError {
                let read = try await handing.read(session.get("a"), numbers)
                #expect(read == text)
            }
            let isRefused = code != nil
            #expect(error?.code == code && (error?.body == Data("1".utf8)) == isRefused, "\(type ?? "-")")
            await session.shutdown()
        }
    }

    @Test func aResponseToHeadHasNoBodyToJudge() async throws {
        let session = try makeClient(StubTransport { _ in .status(.ok, headerFields: [.contentLength: "7"]) })
        let response = try await session.head("a").bytes(validation: ResponseValidation(contentTypes: ["text/*"]))
        #expect(try await response.body.collect(upTo: 10).isEmpty)
        await session.shutdown()
    }

    @Test func aRefusedStreamTaskHasFailed() async throws {
        let session = try makeClient(StubTransport { _ in .status(.notFound) })
        let task = session.get("a").streamTask()
        task.resume()
        #expect(await failure(of: task)?.code == .unacceptableStatus)
        #expect(await sessionError { _ = try await task.response }?.code == .unacceptableStatus)
        await session.shutdown()
    }

    private struct Refusal: Error {}

    private static var tag: ResponseValidation {
        ResponseValidation().validating { head in
            if head.headerFields[.eTag] == nil { throw Refusal() }
        }
    }

    @Test(arguments: Handing.allCases)
    func aClosureJudgesTheHeadOfAStream(handing: Handing) async throws {
        let session = try makeClient(
            StubTransport { request in
                .status(.ok, headerFields: request.index == 0 ? [.eTag: "1"] : [:], body: Data("1".utf8))
            })
        #expect(try await handing.read(session.get("a"), Self.tag) == "1")
        let error = await sessionError { try await handing.read(session.get("a"), Self.tag) }
        #expect(error?.code == .unacceptableResponse && error?.body == Data("1".utf8))
        #expect((error?.underlying as? SerializationError)?.underlying is Refusal)
        await session.shutdown()
    }

    @Test func aClosureJudgesADownload() async throws {
        let session = try makeClient(StubTransport { _ in .status(.ok, body: Data("1".utf8)) })
        let file = FileManager.default.temporaryDirectory.appending(path: "linnet-validated-\(UUID())")
        let error = await sessionError {
            try await session.get("a").download(to: file, options: DownloadOptions { $0.validation = Self.tag })
        }
        #expect(error?.code == .unacceptableResponse && error?.body == Data("1".utf8))
        #expect(!FileManager.default.fileExists(atPath: file.path))
        await session.shutdown()
    }

    @Test func aClosureOfTheSessionsSerializerJudgesValues() async throws {
        let session = try makeClient(StubTransport { _ in .json("1") }) { $0.responseSerializer.validation = Self.tag }
        let error = await sessionError { try await session.get("a").value(as: Int.self) }
        #expect(error?.code == .unacceptableResponse && error?.body == Data("1".utf8))
        await session.shutdown()
    }

    /// Retriers are asked about a body that a closure refuses, such as a 200 that says that the token is over.
    @Test func aRefusedBodyCanBeRetried() async throws {
        struct Retrier: RequestRetrier {
            func decide(on attempt: RetryPolicy.Attempt) async throws -> RetryPolicy.Decision {
                attempt.number == 1 && attempt.error?.code == .unacceptableResponse ? .retry(after: .zero) : .doNotRetry
            }
        }
        let session = try makeClient(StubTransport { request in .json("\(request.index)") })
        let serializer = DecodableResponseSerializer(Int.self).validating { response in
            if response.body == Data("0".utf8) { throw Refusal() }
        }
        let response = try await session.get("a").retrier(Retrier()).response(serializer)
        #expect(response.value == 1)
        let error = await sessionError {
            try await session.get("a").response(DataResponseSerializer().validating { _ in throw Refusal() })
        }
        #expect(error?.code == .unacceptableResponse && error?.body == Data("2".utf8))
        await session.shutdown()
    }
}
