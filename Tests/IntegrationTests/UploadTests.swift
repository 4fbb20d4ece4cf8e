import FoundationEssentials
import Linnet
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct UploadTests {
    private static let size = 10 * 1024 * 1024

    /// A body that repeats one byte up to a given size.
    private struct Pieces: HTTPRequestBodyReader {
        var left: Int

        mutating func next() async throws -> Data? {
            guard left > 0 else { return nil }
            let piece = Data(repeating: 0x61, count: min(left, 50_000))
            left -= piece.count
            return piece
        }
    }

    enum Source: CaseIterable {
        case memory
        case streamOfKnownLength
        case streamOfUnknownLength

        fileprivate var body: HTTPRequestBody {
            switch self {
            case .memory: .data(Data(repeating: 0x61, count: UploadTests.size))
            case .streamOfKnownLength:
                .stream(length: Int64(UploadTests.size), isReplayable: true) { Pieces(left: UploadTests.size) }
            case .streamOfUnknownLength: .stream(length: nil, isReplayable: false) { Pieces(left: UploadTests.size) }
            }
        }
    }

    @Test(arguments: [Server.plain, .tls], Source.allCases)
    func aLargeBodyArrivesWhole(server: Server, source: Source) async throws {
        try await server.withSession { session in
            let request = SessionRequest(url: try session.url(for: "upload"), method: .post)
            let task = session.call(request).body(source.body).task(StringResponseSerializer())
            let updates = task.progressUpdates
            task.resume()
            var seen: [Int64] = []
            for await progress in updates { seen.append(progress.upload.completed) }
            let response = try await task.value
            #expect(response.value == "\(Self.size)\n")
            #expect(seen == seen.sorted())
            #expect(seen.last == Int64(Self.size))
            #expect(task.progress.upload == TransferProgress(completed: Int64(Self.size), total: Int64(Self.size)))
            #expect(response.metrics.last?.requestBodyBytes == Int64(Self.size))
        }
    }

    @Test(arguments: Source.allCases, Surface.allCases)
    func aRefusalBeforeTheEndOfTheBodyIsTheResponse(source: Source, surface: Surface) async throws {
        try await Server.plain.withSession { session in
            let error = await #expect(throws: SessionError.self) {
                try await Self.upload(source.body, to: "upload-refused", session: session, surface: surface)
            }
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.head?.status.code == 413)
            #expect(error?.body.map { String(decoding: $0, as: UTF8.self) }?.contains("413") == true)
            // The next request receives its own response, whether or not the connection is reused.
            let next = try await surface.data("1k", on: session)
            #expect(next.value == ServedFile.small.bytes)
        }
    }

    @Test func manyRefusedUploadsLeaveTheSessionUsable() async throws {
        try await Server.plain.withSession { session in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<32 {
                    group.addTask {
                        let body = number.isMultiple(of: 2) ? Source.memory.body : Source.streamOfKnownLength.body
                        let error = await #expect(throws: SessionError.self) {
                            try await Self.upload(body, to: "upload-refused", session: session, surface: .awaited)
                        }
                        #expect(error?.head?.status.code == 413, "\(String(describing: error))")
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await session.get("1k").response().status == .ok)
        }
    }

    @Test func expectContinueAvoidsSendingARefusedBody() async throws {
        try await Server.plain.withSession {
            // A busy server may take more than the default second to answer.
            $0.continueTimeout = .seconds(60)
        } run: { session in
            var request = SessionRequest(url: try session.url(for: "upload-refused"), method: .post)
            request.headerFields[.expect] = "100-continue"
            request.body = Source.streamOfKnownLength.body
            let error = await #expect(throws: SessionError.self) { try await session.call(request).response() }
            #expect(error?.head?.status.code == 413)
            #expect(error?.metrics.last?.requestBodyBytes == 0)
        }
    }

    @Test func expectContinueSendsAnAcceptedBody() async throws {
        try await Server.plain.withSession { session in
            var request = SessionRequest(url: try session.url(for: "upload"), method: .post)
            request.headerFields[.expect] = "100-continue"
            request.body = Source.streamOfKnownLength.body
            let response = try await session.call(request).response(StringResponseSerializer())
            #expect(response.value == "\(Self.size)\n")
        }
    }

    @Test func anUploadIsCancelledInTheMiddle() async throws {
        try await Server.plain.withSession { session in
            let reached = Signal()
            // This body has no end.
            let body = HTTPRequestBody.stream(length: nil, isReplayable: false) { Pieces(left: .max) }
            let task = session.call(SessionRequest(url: try session.url(for: "upload"), method: .post)).body(body).task(
                StringResponseSerializer())
            task.onProgress { if $0.upload.completed > 1_000_000 { reached.fire() } }
            task.resume()
            await reached.wait()
            task.cancel()
            let error = await #expect(throws: SessionError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            #expect(try await session.get("1k").response().status == .ok)
        }
    }

    private static func upload(
        _ body: HTTPRequestBody, to path: String, session: HTTPSession, surface: Surface
    ) async throws -> SessionResponse<String> {
        var request = SessionRequest(url: try session.url(for: path), method: .post)
        request.body = body
        switch surface {
        case .awaited:
            return try await session.call(request).response(StringResponseSerializer())
        case .handle:
            let task = session.call(request).body(body).task(StringResponseSerializer())
            task.resume()
            return try await task.value
        case .callbacks:
            let outcomes = EventRecorder<Result<SessionResponse<String>, SessionError>>()
            let task = session.call(request).body(body).task(StringResponseSerializer())
            task.onCompletion { outcomes.record($0) }
            task.resume()
            try await outcomes.wait(count: 1)
            return try outcomes.events[0].get()
        }
    }
}
