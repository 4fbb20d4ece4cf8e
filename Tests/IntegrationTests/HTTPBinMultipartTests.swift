import FoundationEssentials
import Linnet
import LinnetTesting
import Testing

@Suite(.leavesNothingAlive, .needsServers, .timeLimit(.minutes(2)))
struct HTTPBinMultipartTests {
    /// The verbs that accept forms.
    enum FormVerb: String, CaseIterable {
        case post
        case put

        var method: HTTPRequest.Method { self == .post ? .post : .put }
    }

    private static let bytes = Data((0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 128) })

    @Test(arguments: FormVerb.allCases, Surface.allCases)
    func partsArriveAsFormAndFiles(verb: FormVerb, surface: Surface) async throws {
        try await Server.httpbin.withSession { session in
            let response = try await Self.send(verb, on: session, surface: surface) { form in
                form.append(Data("Grüße".utf8), name: "greeting")
                form.append(
                    Data("from a file\n".utf8), name: "text", fileName: "a \"b\".txt", contentType: "text/plain")
                form.append(Self.bytes, name: "bytes", fileName: "ümlaut.bin", contentType: "image/png")
            }
            #expect(response.value?["form"] == ["author": "Ada", "year": "1843", "greeting": "Grüße"])
            #expect(
                response.value?["files"] == [
                    "text": "from a file\n",
                    "bytes": .string("data:image/png;base64," + Self.bytes.base64EncodedString()),
                ])
            let contentType = response.value?["headers"]?["Content-Type"]?.string
            #expect(contentType?.hasPrefix("multipart/form-data; boundary=") == true)
            #expect(response.value?["headers"]?["Transfer-Encoding"] == nil)
        }
    }

    @Test(arguments: Surface.allCases)
    func aFileOnDiskIsSent(surface: Surface) async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "linnet-\(UUID().uuidString).txt")
        try ServedFile.middle.bytes.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        try await Server.httpbin.withSession { session in
            let response = try await Self.send(.post, on: session, surface: surface) { form in
                try form.append(fileAt: url, name: "file")
            }
            #expect(response.value?["form"] == ["author": "Ada", "year": "1843"])
            let file = response.value?["files"]?["file"]?.string
            #expect(file == String(decoding: ServedFile.middle.bytes, as: UTF8.self))
        }
    }

    @Test func aPartOfUnknownLengthMakesTheFormChunked() async throws {
        try await Server.httpbin.withSession { session in
            var form = MultipartForm()
            form.append(
                stream: { Lines(left: 3) }, name: "lines", fileName: "lines.txt", contentType: "text/plain",
                length: nil, isReplayable: true)
            let answer = try await session.post("post", form: form).json()
            #expect(answer?["files"] == ["lines": "line\nline\nline\n"])
            #expect(answer?["headers"]?["Transfer-Encoding"] == "chunked")
        }
    }

    @Test func uploadProgressIncreasesToTheTotal() async throws {
        try await Server.httpbin.withSession { session in
            let progress = EventRecorder<TransferProgress>()
            let finished = Signal()
            var form = MultipartForm()
            form.append(ServedFile.middle.bytes, name: "file", fileName: "file.txt", contentType: "text/plain")
            let task = session.post("post", form: form).jsonTask()
            task.onProgress { progress.record($0.upload) }
            task.onCompletion { result in
                if case .failure(let error) = result { Issue.record(error) }
                finished.fire()
            }
            task.resume()
            await finished.wait()
            #expect(task.kind == .upload)
            let seen = progress.events
            #expect(seen.count > 1)
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.completed <= $1.completed })
            #expect(seen.last?.isFinished == true)
            #expect((seen.last?.completed ?? 0) > Int64(ServedFile.middle.size))
        }
    }

    /// Sends two parameters and the parts that a closure adds.
    private static func send(
        _ verb: FormVerb, on session: HTTPSession, surface: Surface,
        adding build: (inout MultipartForm) throws -> Void
    ) async throws -> SessionResponse<JSONValue?> {
        let parameters: RequestParameters = ["author": "Ada", "year": 1843]
        var form = MultipartForm()
        try form.append(parameters)
        try build(&form)
        let call = session.call(verb.method, verb.rawValue).body(form: form)
        switch surface {
        case .awaited:
            return try await call.response(JSONResponseSerializer())
        case .handle:
            return try await call.jsonTask().value
        case .callbacks:
            let outcomes = EventRecorder<Result<SessionResponse<JSONValue?>, SessionError>>()
            let task = call.jsonTask()
            task.onCompletion { outcomes.record($0) }
            task.resume()
            try await outcomes.wait(count: 1)
            return try outcomes.events[0].get()
        }
    }
}

private struct Lines: HTTPRequestBodyReader {
    var left: Int

    mutating func next() async throws -> Data? {
        guard left > 0 else { return nil }
        left -= 1
        return Data("line\n".utf8)
    }
}
