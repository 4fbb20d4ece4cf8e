import AsyncHTTPClient
import BenchSupport
import FoundationEssentials
import NIOCore
import NIOFileSystem
import NIOFoundationEssentialsCompat
import NIOHTTP1
import NIOSSL

/// async-http-client: one shared client with `execute` and `collect`, as in its documentation.
@main
struct BenchAHC {
    let arguments: Arguments
    let client: HTTPClient
    let request: HTTPClientRequest
    let decoder = JSONDecoder()

    static func main() {
        runBenchmark { arguments in try await BenchAHC(arguments).run() }
    }

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit =
            arguments.operation == "waiting" ? 8 : arguments.concurrency
        configuration.httpVersion = arguments.isHTTP2 ? .automatic : .http1Only
        if let file = arguments.options["ca"] {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(file)
            configuration.tlsConfiguration = tls
        }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        request = HTTPClientRequest(url: arguments.url)
    }

    func run() async throws -> Outcome {
        let first = HTTPClientRequest(url: arguments.base + "1k")
        let prepare = { try await get(first, 1024) }
        let outcome =
            switch arguments.operation {
            case "get": try await measureRate(arguments) { try await get(request, arguments.bytes) }
            case "latency": try await measureLatencies(arguments) { try await get(request, arguments.bytes) }
            case "json": try await measureRate(arguments) { try await json() }
            case "body": try await measureThroughput(arguments, prepare: prepare, body)
            case "idle": try await measureIdleConnections(arguments) { try await get(request, arguments.bytes) }
            case "waiting": try await measureWaitingRequests(arguments) { try await get(request, arguments.bytes) }
            case "unread": try await measureUnreadBodies(arguments, prepare: prepare, firstBytes)
            case "download": try await measureThroughput(arguments, prepare: prepare, download)
            case "upload": try await measureThroughput(arguments, prepare: prepare, upload)
            default: throw Failure("no operation \(arguments.operation)")
            }
        try await client.shutdown()
        return outcome
    }

    func get(_ request: HTTPClientRequest, _ bytes: Int) async throws {
        let response = try await client.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 1 << 20)
        try checkVersion(response.version)
        try check(status: Int(response.status.code), body.readableBytes, of: bytes)
    }

    func checkVersion(_ version: HTTPVersion) throws {
        guard version.major == (arguments.isHTTP2 ? 2 : 1) else { throw Failure("the response came over \(version)") }
    }

    func json() async throws {
        let response = try await client.execute(request, timeout: .seconds(30))
        let body = try await response.body.collect(upTo: 1 << 20)
        try check(status: Int(response.status.code), body.readableBytes, of: arguments.bytes)
        try decoder.decode(Page.self, from: body).check()
    }

    func body() async throws {
        let response = try await client.execute(request, timeout: .seconds(60))
        var count = 0
        for try await buffer in response.body { count += buffer.readableBytes }
        try checkVersion(response.version)
        try check(status: Int(response.status.code), count, of: arguments.bytes)
    }

    /// Reads the first bytes of a body, and returns the iterator that keeps it open.
    func firstBytes() async throws -> Held {
        let response = try await client.execute(request, timeout: .seconds(60))
        var iterator = response.body.makeAsyncIterator()
        guard try await iterator.next() != nil else { throw Failure("the body is empty") }
        return Held(iterator)
    }

    func download() async throws {
        let file = try arguments.required("file")
        removeFile(file)
        let delegate = try FileDownloadDelegate(path: file)
        let request = try HTTPClient.Request(url: arguments.url)
        let progress = try await client.execute(request: request, delegate: delegate).get()
        try check(status: progress.receivedBytes == arguments.bytes ? 200 : 0, fileSize(file), of: arguments.bytes)
    }

    func upload() async throws {
        let file = try arguments.required("file")
        let status = try await FileSystem.shared.withFileHandle(forReadingAt: FilePath(file)) { handle in
            var request = HTTPClientRequest(url: arguments.url)
            request.method = .PUT
            request.body = .stream(
                handle.readChunks(chunkLength: .kibibytes(256)), length: .known(Int64(arguments.bytes)))
            return try await client.execute(request, timeout: .seconds(60)).status
        }
        guard status == .created || status == .noContent else { throw Failure("status \(status.code)") }
    }
}
