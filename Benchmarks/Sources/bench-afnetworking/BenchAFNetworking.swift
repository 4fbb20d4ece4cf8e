import BenchSupport
import Dispatch
import Foundation
import LinnetAFNetworking

/// Linnet, through the session manager with AFNetworking's names.
@main
struct BenchAFNetworking {
    let arguments: Arguments
    let manager: AFHTTPSessionManager

    static func main() {
        // A program that was written for AFNetworking has a main loop, which posts the notifications of its tasks.
        runBenchmark(waiting: { RunLoop.main.run(until: .distantFuture) }) { arguments in
            try await BenchAFNetworking(arguments).run()
        }
    }

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        guard let base = URL(string: arguments.base) else { throw Failure("\(arguments.base) is not a valid URL") }
        var configuration = HTTPSession.Configuration()
        configuration.pool.connectionsPerOrigin = arguments.concurrency
        configuration.pool.connections = max(256, arguments.concurrency)
        manager = AFHTTPSessionManager(
            baseURL: base, sessionConfiguration: URLSessionConfiguration(configuration))
        manager.responseSerializer = AFHTTPResponseSerializer()
        // A queue of its own, so that handlers do not wait for the main loop.
        manager.completionQueue = DispatchQueue(label: "bench.completion")
    }

    func run() async throws -> Outcome {
        switch arguments.operation {
        case "get": return try await measureRate(arguments) { try await get() }
        case "count":
            let requests = arguments.number("requests", 200)
            for _ in 0..<requests { try await get() }
            return Outcome(Double(requests), "requests", count: requests)
        default: throw Failure("no operation \(arguments.operation)")
        }
    }

    func get() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            manager.get(
                arguments.path,
                success: { task, object in
                    let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
                    let count = (object as? Data)?.count ?? 0
                    continuation.resume(
                        with: Result { try check(status: status, count, of: arguments.bytes) })
                },
                failure: { _, error in continuation.resume(throwing: error) })
        }
    }
}
