import FoundationEssentials
import HTTPTypes
import LinnetAFNetworking
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

/// AFURLSessionManager's tasks, with its callbacks.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct TaskCallbackTests {
    /// The functions that read their response as JSON. Each sends the same body.
    enum Sender: CaseIterable, Sendable {
        case request, file, data, stream

        static let body = makeBytes(300)

        func task(
            of session: HTTPSession, in folder: ScratchFolder,
            progress: @escaping @Sendable (TransferProgress) -> Void = { _ in },
            completionHandler: @escaping @Sendable (Result<SessionResponse<JSONValue?>, SessionError>) -> Void
        ) throws -> DataTask<JSONValue?> {
            switch self {
            case .request:
                let request = try makeRequest(method: .post, body: .data(Self.body))
                return session.dataTask(
                    with: request, uploadProgress: progress, completionHandler: completionHandler)
            case .file:
                try Self.body.write(to: folder["file"])
                return session.uploadTask(
                    with: try makeRequest(method: .put), fromFile: folder["file"], progress: progress,
                    completionHandler: completionHandler)
            case .data:
                return session.uploadTask(
                    with: try makeRequest(method: .post), from: Self.body, progress: progress,
                    completionHandler: completionHandler)
            case .stream:
                let chunks = AsyncStream<Data> { continuation in
                    continuation.yield(Self.body.prefix(100))
                    continuation.yield(Self.body.dropFirst(100))
                    continuation.finish()
                }
                return session.uploadTask(
                    withStreamedRequest: try makeRequest(method: .post, body: .chunks(chunks, length: nil)),
                    progress: progress, completionHandler: completionHandler)
            }
        }
    }

    private enum Call: Sendable {
        case progress(TransferProgress)
        case end(Result<SessionResponse<JSONValue?>, SessionError>)

        var progress: TransferProgress? { if case .progress(let progress) = self { progress } else { nil } }

        var end: Result<SessionResponse<JSONValue?>, SessionError>? {
            if case .end(let end) = self { end } else { nil }
        }
    }

    /// A client with callbacks that have returned when a task's value is available.
    private func client(
        _ transport: StubTransport, configure: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) throws -> HTTPSession {
        try makeClient(transport) {
            $0.callbackExecutor = .custom { $0() }
            $0.progressInterval = .zero
            configure(&$0)
        }
    }

    @Test(arguments: Sender.allCases)
    func aTaskWaitsAndCallsBackOnceAfterItsProgress(sender: Sender) async throws {
        let transport = StubTransport { _ in .json(#"{"id": 7}"#) }
        let client = try client(transport)
        try await withScratchFolder { folder in
            let calls = EventRecorder<Call>()
            let task = try sender.task(
                of: client, in: folder, progress: { calls.record(.progress($0)) },
                completionHandler: { calls.record(.end($0)) })
            #expect(task.state == .suspended)
            let kind: TaskKind = sender == .request ? .data : .upload
            #expect(task.kind == kind)
            #expect(transport.requests.isEmpty)
            task.resume()
            _ = try await task.value
            let all = calls.events
            #expect(all.compactMap(\.end).count == 1)
            #expect(all.last?.end?.success?.value?["id"] == 7)
            let completed = all.compactMap(\.progress).map(\.completed)
            #expect(completed.first == 0 && completed.last == 300)
            #expect(completed == completed.sorted())
            // Nothing is told twice; the end of a stream is not known before it.
            let told = all.compactMap(\.progress).map { [$0.completed, $0.isFinished ? 1 : 0] }
            #expect(told.count == Set(told).count)
            #expect(completed.count { $0 == 0 } == 1)
            #expect(all.compactMap(\.progress).last?.total == 300)
        }
        #expect(transport.requests.map(\.body) == [Sender.body])
        #expect(transport.requests.first?.head.headerFields[.accept] == "application/json")
    }

    @Test(arguments: Sender.allCases)
    func theSessionsSerializerReadsTheResponse(sender: Sender) async throws {
        let client = try client(StubTransport { _ in .json(#"{"a": null, "b": 1}"#, status: .notFound) }) {
            $0.responseSerializer.validation.statusCodes = RangeSet(404..<405)
            $0.responseSerializer.removesNullValues = true
        }
        try await withScratchFolder { folder in
            let values = EventRecorder<JSONValue?>()
            let task = try sender.task(
                of: client, in: folder, completionHandler: { values.record($0.success?.value) })
            task.resume()
            #expect(try await task.value.status == .notFound)
            let expected: JSONValue = ["b": 1]
            #expect(values.events == [expected])
        }
    }

    @Test func aDataTaskReportsBothDirections() async throws {
        let client = try client(StubTransport { _ in .json("[1, 2, 3]") })
        let (sent, received) = (EventRecorder<TransferProgress>(), EventRecorder<TransferProgress>())
        let task = client.dataTask(
            with: try makeRequest(method: .post, body: .data(Sender.body)), uploadProgress: { sent.record($0) },
            downloadProgress: { received.record($0) })
        task.resume()
        _ = try await task.value
        #expect(Set(sent.events.map(\.completed)) == [0, 300])
        #expect(sent.events.last?.completed == 300 && sent.events.last?.total == 300)
        #expect(Set(received.events.map(\.completed)) == [0, 9])
        #expect(received.events.last?.completed == 9 && received.events.last?.total == 9)
    }

    @Test func aFileThatIsMissingFailsTheTaskOnceItIsResumed() async throws {
        let transport = StubTransport()
        let client = try client(transport)
        try await withScratchFolder { folder in
            let ends = EventRecorder<SessionError.Code?>()
            let task = client.uploadTask(
                with: try makeRequest(method: .put), fromFile: folder["none"],
                completionHandler: { ends.record($0.error?.code) })
            #expect(task.state == .suspended && ends.events.isEmpty)
            task.resume()
            #expect(await failure(of: task)?.fileFailure?.path == folder["none"].path)
            #expect(ends.events == [.fileFailed])
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func aCancelledTaskCallsBackOnce() async throws {
        let (arrived, never) = (Signal(), Signal())
        let client = try client(
            StubTransport { _ in
                arrived.fire()
                await never.wait()
                return .json("1")
            })
        let ends = EventRecorder<SessionError.Code?>()
        let task = client.dataTask(with: try makeRequest(), completionHandler: { ends.record($0.error?.code) })
        task.resume()
        await arrived.wait()
        task.cancel()
        task.cancel()
        #expect(await failure(of: task)?.code == .cancelled)
        #expect(ends.events == [.cancelled])
    }

    @Test func aDownloadGoesToItsDestination() async throws {
        let client = try client(StubTransport { _ in .status(200, body: Data("abc".utf8)) })
        try await withScratchFolder { folder in
            let calls = EventRecorder<String>()
            let task = client.downloadTask(
                with: try makeRequest(), progress: { calls.record("progress \($0.completed)") },
                destination: { file, head in
                    let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
                    calls.record("destination \(head.status.code) \(text)")
                    return folder["chosen"]
                }, completionHandler: { calls.record("end \($0.success?.value.lastPathComponent ?? "")") })
            #expect(
                task.state == .suspended && task.kind == .download
                    && !FileManager.default.fileExists(atPath: folder["chosen"].path))
            task.resume()
            #expect(try await task.value.value.path == folder["chosen"].path)
            let all = calls.events
            #expect(all.filter { !$0.hasPrefix("progress") } == ["destination 200 abc", "end chosen"])
            #expect(all.first == "progress 0" && all.last == "end chosen")
            #expect(all.last(where: { $0.hasPrefix("progress") }) == "progress 3")
            let progress = all.filter { $0.hasPrefix("progress") }
            #expect(progress.count == Set(progress).count)
            #expect(try folder.text(of: "chosen") == "abc")
        }
    }

    @Test func aRefusedDownloadCallsBackWithoutADestination() async throws {
        let client = try client(StubTransport { _ in .status(404) })
        let calls = EventRecorder<String>()
        let task = client.downloadTask(
            with: try makeRequest(),
            destination: { file, _ in
                calls.record("destination")
                return file
            }, completionHandler: { calls.record("end \($0.error?.head?.status.code ?? 0)") })
        task.resume()
        #expect(await failure(of: task)?.code == .unacceptableStatus)
        #expect(calls.events == ["end 404"])
    }

    /// The session makes the request again, so that the serializer's credentials go to the base URL's origin only.
    @Test(arguments: [true, false])
    func aDownloadResumesFromItsResumeData(isAtBaseURL: Bool) async throws {
        let (bytes, stop) = (makeBytes(3_000_000), 1_000_000)
        let handler: MockServer.Handler = { request in
            let isRest = request.headerFields[.range] != nil
            let fields: HTTPFields = [
                .eTag: "\"v1\"", .acceptRanges: "bytes",
                .contentRange: isRest ? "bytes \(stop)-\(bytes.count - 1)/\(bytes.count)" : "bytes *",
            ]
            guard isRest else {
                return MockResponse(headerFields: fields, body: .bytes(bytes))
                    .with(MockServer.Fault(.stall, at: .responseBody(after: stop)))
            }
            return MockResponse(status: .partialContent, headerFields: fields, body: .bytes(bytes.dropFirst(stop)))
        }
        try await withMockServer(handler: handler) { server in
            try await withScratchFolder { folder in
                let base = isAtBaseURL ? server.url.absoluteString : "http://example.com/"
                let session = try HTTPSession(baseURL: URL(string: base)) {
                    var serializer = FormRequestSerializer()
                    try serializer.setBasicAuthorization(username: "ada", password: "linnet")
                    $0.requestSerializer = serializer
                    $0.callbackExecutor = .custom { $0() }
                }
                let request = SessionRequest(url: try server.url("/large"))
                let first = session.call(request).downloadTask(to: folder["first"])
                let progress = EventRecorder<Int64>()
                first.onProgress { progress.record($0.download.completed) }
                first.resume()
                try await progress.wait { $0.last == Int64(stop) }
                let data = try #require(await first.cancelProducingResumeData())

                let calls = EventRecorder<String>()
                let task = session.downloadTask(
                    withResumeData: data, progress: { calls.record("progress \($0.completed)") },
                    destination: { _, head in
                        calls.record("destination \(head.status.code)")
                        return folder["resumed"]
                    }, completionHandler: { calls.record("end \($0.success?.value.lastPathComponent ?? "")") })
                #expect(task.state == .suspended && task.kind == .download)
                task.resume()
                _ = try await task.value
                let all = calls.events
                #expect(all.filter { !$0.hasPrefix("progress") } == ["destination 206", "end resumed"])
                #expect(all.last(where: { $0.hasPrefix("progress") }) == "progress 3000000")
                #expect(all.last == "end resumed")
                #expect(task.resumption == .resumed(at: Int64(stop)))
                #expect(try Data(contentsOf: folder["resumed"]) == bytes)
                let last = try #require(server.recordedRequests.last)
                #expect(last.headerFields[.range] == "bytes=\(stop)-")
                let authorization = HTTPFields.basicAuthorization(username: "ada", password: "linnet")
                #expect(last.headerFields[.authorization] == (isAtBaseURL ? authorization : nil))
                await session.shutdown(.immediate)
            }
        }
    }
}
