import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct FileUploadTests {
    @Test(arguments: [0, 1, 512 * 1024, 512 * 1024 + 1, 20_000_000])
    func theServerGetsTheFile(size: Int) async throws {
        let bytes = makeBytes(size)
        try await withMockServer(.json("1")) { server in
            try await withScratchFolder { folder in
                try bytes.write(to: folder["file.csv"])
                let client = try HTTPSession(baseURL: server.url("/"))
                let response = try await client.call(.put, "a").body(file: folder["file.csv"]).response(
                    JSONResponseSerializer())
                #expect(response.value == 1)
                await client.shutdown()
            }
            let request = try await server.nextRequest()
            #expect(request.method == .put)
            #expect(request.body == bytes)
            #expect(request.headerFields[.contentLength] == String(size))
            #expect(request.headerFields[.contentType] == "text/csv")
        }
    }

    @Test func aFileIsSentWithTheRequestsMethodAndFields() async throws {
        let transport = StubTransport { _ in .json(#"{"id": 7}"#) }
        let client = try makeClient(transport)
        struct Reply: Decodable { let id: Int }
        try await withScratchFolder { folder in
            try folder.write("hello", to: "file")
            let response = try await client.call(.post, "a").body(file: folder["file"]).headers([
                .contentType: "text/plain"
            ]).response(as: Reply.self)
            #expect(response.value.id == 7)
        }
        let request = try #require(transport.requests.first)
        #expect(request.head.method == .post)
        #expect(request.head.headerFields[.contentType] == "text/plain")
        #expect(request.body == Data("hello".utf8))
    }

    @Test func aHandleCountsTheBytes() async throws {
        try await withMockServer(.json("1")) { server in
            try await withScratchFolder { folder in
                try makeBytes(3_000_000).write(to: folder["file"])
                let client = try HTTPSession(baseURL: server.url("/"))
                let task = client.call(.put, "a").body(file: folder["file"]).task(JSONResponseSerializer())
                #expect(task.kind == .upload)
                task.resume()
                _ = try await task.value
                #expect(task.progress.upload == TransferProgress(completed: 3_000_000, total: 3_000_000))
                await client.shutdown()
            }
        }
    }

    @Test func aFileIsSentAgainOnAnotherConnection() async throws {
        let bytes = makeBytes(1_000_000)
        let configuration = MockServer.Configuration {
            $0.faults = .connections([0], .init(.close, at: .responseEnd))
        }
        try await withMockServer(.json("1"), configuration: configuration) { server in
            try await withScratchFolder { folder in
                try bytes.write(to: folder["file"])
                let client = try HTTPSession(baseURL: server.url("/"))
                for _ in 0..<2 {
                    try await client.call(.put, "a").body(file: folder["file"]).response(JSONResponseSerializer())
                }
                await client.shutdown()
            }
            #expect(server.recordedRequests.filter(\.isComplete).map(\.body) == [bytes, bytes])
        }
    }

    // MARK: Failures

    @Test func aMissingFileFailsBeforeAnythingIsSent() async throws {
        let transport = StubTransport()
        let client = try makeClient(transport)
        try await withScratchFolder { folder in
            for (url, code) in [(folder["none"], ENOENT), (folder.url, EISDIR), (URL(filePath: "/dev/zero"), EINVAL)] {
                let error = await failure {
                    try await client.call(.put, "a").body(file: url).response(JSONResponseSerializer())
                }
                #expect(error?.code == .fileFailed)
                #expect(error?.fileFailure?.errorNumber == code)
            }
            let task = client.call(.put, "a").body(file: folder["none"]).task(JSONResponseSerializer())
            task.resume()
            #expect(await failure { try await task.value }?.code == .fileFailed)
        }
        let url = try #require(URL(string: "http://example.com/file"))
        #expect(
            await failure { try await client.call(.put, "a").body(file: url).response(JSONResponseSerializer()) }?.code
                == .invalidURL)
        #expect(transport.requests.isEmpty)
    }

    /// Changes of a file between the creation and the sending of the request.
    enum Change: CaseIterable { case grows, shrinks, vanishes, becomesAFolder }

    @Test(arguments: Change.allCases)
    func aFileThatChangedIsNotSent(change: Change) async throws {
        try await withMockServer(.json("1")) { server in
            try await withScratchFolder { folder in
                try makeBytes(1000).write(to: folder["file"])
                let client = try HTTPSession(baseURL: server.url("/"))
                let request = try client.call(.put, "a").body(file: folder["file"]).request()
                switch change {
                case .grows: try makeBytes(1001).write(to: folder["file"])
                case .shrinks: truncate(folder["file"].path, 999)
                case .vanishes: unlink(folder["file"].path)
                case .becomesAFolder:
                    unlink(folder["file"].path)
                    mkdir(folder["file"].path, 0o700)
                }
                let error = await failure { try await client.call(request).response() }
                #expect(error?.code == .fileFailed)
                #expect(error?.fileFailure?.path == folder["file"].path)
                #expect(error?.underlying is TransportError)
                // The only complete request comes after it.
                _ = try await client.get("after").response(JSONResponseSerializer())
                await client.shutdown()
            }
            #expect(server.recordedRequests.filter(\.isComplete).map(\.path) == ["/after"])
        }
    }

    @Test(arguments: [Change.grows, .shrinks])
    func aFileThatChangesOnTheWayIsGivenUp(change: Change) async throws {
        let configuration = MockServer.Configuration { $0.requestBodies = .streamed }
        let size = 64 * 1024 * 1024
        let changed = Signal()
        try await withScratchFolder { folder in
            try Data(count: size).write(to: folder["file"])
            let handler: MockServer.Handler = { request in
                do {
                    var received = 0
                    for try await chunk in request.chunks {
                        received += chunk.count
                        guard received >= 1_000_000 else { continue }
                        // The client is in the middle: neither side's buffers hold the rest.
                        truncate(folder["file"].path, change == .grows ? size + 1 : 2_000_000)
                        changed.fire()
                    }
                } catch {
                    // The client gives up, as it should.
                }
                return .json("1")
            }
            try await withMockServer(configuration: configuration, handler: handler) { server in
                let client = try HTTPSession(baseURL: server.url("/"))
                let error = await failure {
                    try await client.call(.put, "a").body(file: folder["file"]).response(JSONResponseSerializer())
                }
                await changed.wait()
                #expect(error?.code == .fileFailed)
                #expect(error?.fileFailure?.path == folder["file"].path)
                #expect(server.recordedRequests.map(\.isComplete) == [false])
                await client.shutdown()
            }
        }
    }

    @Test func cancellingEndsTheUpload() async throws {
        let configuration = MockServer.Configuration { $0.requestBodies = .streamed }
        let (arrived, isOver) = (Signal(), Signal())
        let handler: MockServer.Handler = { _ in
            arrived.fire()
            await isOver.wait()
            return .json("1")
        }
        try await withMockServer(configuration: configuration, handler: handler) { server in
            try await withScratchFolder { folder in
                try Data(count: 64 * 1024 * 1024).write(to: folder["file"])
                let client = try HTTPSession(baseURL: server.url("/"))
                let upload = Task {
                    try await client.call(.put, "a").body(file: folder["file"]).response(JSONResponseSerializer())
                }
                await arrived.wait()
                upload.cancel()
                #expect(await failure { try await upload.value }?.code == .cancelled)
                isOver.fire()
                await client.shutdown(.immediate)
            }
        }
    }
}

/// The error of an operation that must fail.
private func failure<Value>(of operation: () async throws -> Value) async -> SessionError? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return error as? SessionError
    }
}
