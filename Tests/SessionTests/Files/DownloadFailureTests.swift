import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct DownloadFailureTests {
    @Test func anErrorPageNeverLands() async throws {
        let client = try makeClient(StubTransport { _ in .json(#"{"why": "gone"}"#, status: 410) })
        try await withScratchFolder { folder in
            try folder.write("old", to: "file")
            let error = await failure { try await client.get("a").download(to: folder["file"]) }
            #expect(error?.code == .unacceptableStatus)
            #expect(error?.head?.status.code == 410)
            #expect(error?.body == Data(#"{"why": "gone"}"#.utf8))
            #expect(error?.metrics.count == 1)
            #expect(try folder.text(of: "file") == "old")
            #expect(folder.names == ["file"])
        }
    }

    @Test func theWrongContentTypeNeverLands() async throws {
        let client = try makeClient(
            StubTransport { _ in
                .status(200, headerFields: [.contentType: "text/html"], body: Data("<p>Log in!</p>".utf8))
            })
        try await withScratchFolder { folder in
            let options = DownloadOptions { $0.validation = ResponseValidation(contentTypes: ["application/*"]) }
            let error = await failure { try await client.get("a").download(to: folder["file"], options: options) }
            #expect(error?.code == .unacceptableContentType)
            #expect(error?.body == Data("<p>Log in!</p>".utf8))
            #expect(folder.names.isEmpty)
        }
    }

    @Test func aRefusedResponseMakesNoFolder() async throws {
        let client = try makeClient(StubTransport { _ in .status(404) })
        try await withScratchFolder { folder in
            let options = DownloadOptions { $0.createsDirectories = true }
            let error = await failure { try await client.get("a").download(to: folder["x/f"], options: options) }
            #expect(error?.code == .unacceptableStatus)
            #expect(folder.names.isEmpty)
        }
    }

    /// An endless error page. The error has its first MiB.
    @Test func theBodyOfAnErrorIsBounded() async throws {
        struct Endless: AsyncSequence, Sendable {
            struct AsyncIterator: AsyncIteratorProtocol {
                mutating func next() async throws -> Data? { Data(repeating: 0x78, count: 100_000) }
            }
            func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
        }
        try await withMockServer(MockResponse(status: .notFound, body: .stream(Endless()))) { server in
            let client = try HTTPSession(baseURL: server.url("/"))
            try await withScratchFolder { folder in
                let error = await failure { try await client.get("a").download(to: folder["file"]) }
                #expect(error?.code == .unacceptableStatus)
                #expect(error?.body == Data(repeating: 0x78, count: 1024 * 1024))
                #expect(folder.names.isEmpty)
            }
            await client.shutdown()
        }
    }

    @Test(arguments: [MockServer.Fault.Effect.close, .reset, .truncate])
    func aBodyThatBreaksOffLeavesNothing(effect: MockServer.Fault.Effect) async throws {
        let response = MockResponse(body: .bytes(makeBytes(3_000_000)))
            .with(.init(effect, at: .responseBody(after: 2_000_000)))
        try await withMockServer(response) { server in
            let client = try HTTPSession(baseURL: server.url("/"))
            try await withScratchFolder { folder in
                let error = await failure { try await client.get("a").download(to: folder["file"]) }
                #expect(error?.code == .connectionLost)
                #expect(error?.head?.status == .ok)
                #expect(folder.names.isEmpty)
            }
            await client.shutdown()
        }
    }

    @Test(arguments: [(2, SessionError.Code.invalidResponse), (4, .connectionLost)])
    func aBodyMustHaveItsDeclaredLength(length: Int, code: SessionError.Code) async throws {
        let client = try makeClient(
            StubTransport { _ in
                .status(200, headerFields: [.contentLength: String(length)], body: Data("abc".utf8))
            })
        try await withScratchFolder { folder in
            let error = await failure { try await client.get("a").download(to: folder["file"]) }
            #expect(error?.code == code)
            #expect(folder.names.isEmpty)
        }
    }

    @Test func cancellationInTheMiddleLeavesNothing() async throws {
        let body = StubTransport.Body()
        let client = try makeClient(StubTransport { _ in .stream(body) })
        try await withScratchFolder { folder in
            let download = Task { try await client.get("a").download(to: folder["file"]) }
            // However far it has come with these when it is cancelled, it waits for more in the end.
            for _ in 0..<40 { body.send(makeBytes(10_000)) }
            try await folder.waitForPartialFile()
            download.cancel()
            let error = await failure { try await download.value }
            #expect(error?.code == .cancelled)
            await body.waitForAbandonment()
            #expect(folder.names.isEmpty)
        }
    }

    @Test func aTimeoutInTheMiddleLeavesNothing() async throws {
        let body = StubTransport.Body()
        let client = try makeClient(StubTransport { _ in .stream(body) })
        try await withScratchFolder { folder in
            async let result = failure { try await client.get("a").download(to: folder["file"]) }
            body.send("some")
            try await folder.waitForPartialFile()
            body.fail(TransportError(.readTimeout, "Too slow."))
            let error = await result
            #expect(error?.code == .timeout)
            #expect(error?.timeout == .idleRead)
            #expect(folder.names.isEmpty)
        }
    }

    @Test func aFolderThatVanishesFails() async throws {
        let body = StubTransport.Body()
        let client = try makeClient(StubTransport { _ in .stream(body) })
        try await withScratchFolder { folder in
            try FileManager.default.createDirectory(at: folder["sub"], withIntermediateDirectories: false)
            async let result = failure { try await client.get("a").download(to: folder["sub/file"]) }
            body.send("some")
            try await ScratchFolder(url: folder["sub"]).waitForPartialFile()
            try FileManager.default.removeItem(at: folder["sub"])
            body.finish()
            let error = await result
            #expect(error?.code == .fileFailed)
            #expect(error?.fileFailure?.path == folder["sub/file"].path)
            #expect(folder.names.isEmpty)
        }
    }
}

/// The error of an operation that must fail.
private func failure(of operation: () async throws -> SessionResponse<URL>) async -> SessionError? {
    do {
        _ = try await operation()
        return nil
    } catch {
        return error as? SessionError
    }
}

extension ScratchFolder {
    /// Returns when there is a hidden file, which a download writes to.
    func waitForPartialFile() async throws {
        while !names.contains(where: { $0.hasPrefix(".file.linnet-") && $0.hasSuffix(".part") }) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
