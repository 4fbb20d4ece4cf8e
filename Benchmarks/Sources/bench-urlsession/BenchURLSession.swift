import BenchSupport
import Foundation
import FoundationNetworking

/// FoundationNetworking's URLSession.
@main
struct BenchURLSession {
    let arguments: Arguments
    let session: URLSession
    let url: URL

    static func main() {
        runBenchmark { arguments in try await BenchURLSession(arguments).run() }
    }

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        guard let url = URL(string: arguments.url) else { throw Failure("\(arguments.url) is no URL") }
        self.url = url
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = arguments.concurrency
        configuration.urlCache = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        session = URLSession(configuration: configuration)
    }

    func run() async throws -> Outcome {
        guard let first = URL(string: arguments.base + "1k") else { throw Failure("\(arguments.base) is no URL") }
        let prepare = { try await get(first, 1024) }
        return switch arguments.operation {
        case "get": try await measureRate(arguments) { try await get(url, arguments.bytes) }
        case "json": try await measureRate(arguments) { try await json() }
        case "body": try await measureThroughput(arguments, prepare: prepare, body)
        case "idle": try await measureIdleConnections(arguments) { try await get(url, arguments.bytes) }
        case "download": try await measureThroughput(arguments, prepare: prepare, download)
        case "upload": try await measureThroughput(arguments, prepare: prepare, upload)
        default: throw Failure("no operation \(arguments.operation)")
        }
    }

    static func status(_ response: URLResponse) -> Int { (response as? HTTPURLResponse)?.statusCode ?? 0 }

    func get(_ url: URL, _ bytes: Int) async throws {
        let (data, response) = try await session.data(from: url)
        try check(status: Self.status(response), data.count, of: bytes)
    }

    func json() async throws {
        let (data, response) = try await session.data(from: url)
        try check(status: Self.status(response), data.count, of: arguments.bytes)
        try JSONDecoder().decode(Page.self, from: data).check()
    }

    /// A delegate that counts bytes is faster than collecting them, and needs no memory for them.
    func body() async throws {
        let (status, count) = try await withCheckedThrowingContinuation { continuation in
            let counter = Counter(continuation)
            let session = URLSession(configuration: .ephemeral, delegate: counter, delegateQueue: nil)
            session.dataTask(with: url).resume()
            session.finishTasksAndInvalidate()
        }
        try check(status: status, count, of: arguments.bytes)
    }

    func download() async throws {
        let file = try arguments.required("file")
        removeFile(file)
        let (place, response) = try await session.download(from: url)
        try FileManager.default.moveItem(at: place, to: URL(fileURLWithPath: file))
        try check(status: Self.status(response), fileSize(file), of: arguments.bytes)
    }

    func upload() async throws {
        var request = URLRequest(url: url)
        request.httpMethod = "PUT"
        let file = URL(fileURLWithPath: try arguments.required("file"))
        let (_, response) = try await session.upload(for: request, fromFile: file)
        guard [201, 204].contains(Self.status(response)) else { throw Failure("status \(Self.status(response))") }
    }
}

// SAFETY: a session calls its delegate on one serial queue.
private final class Counter: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private let continuation: CheckedContinuation<(Int, Int), any Error>
    private var count = 0

    init(_ continuation: CheckedContinuation<(Int, Int), any Error>) { self.continuation = continuation }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { count += data.count }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        if let error {
            continuation.resume(throwing: error)
        } else {
            continuation.resume(returning: (task.response.map(BenchURLSession.status) ?? 0, count))
        }
    }
}
