import BenchSupport
import FoundationEssentials
import Linnet
import LinnetDiskCache

/// Linnet with a cache: `store=memory`, `store=disk` or `store=tiered`; without a store, each request asks the server.
@main
struct BenchCache {
    let arguments: Arguments
    let http: HTTPSession
    let folder: URL

    static func main() {
        runBenchmark { arguments in
            let bench = try BenchCache(arguments)
            defer { try? FileManager.default.removeItem(at: bench.folder) }
            return try await bench.run()
        }
    }

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-bench-cache-\(UUID().uuidString)")
        self.folder = folder
        http = try HTTPSession(baseURL: URL(string: arguments.base)) {
            $0.cacheStore =
                switch arguments.options["store"] {
                case nil: nil
                case "memory": MemoryCacheStore()
                case "disk": try DiskCacheStore(at: folder)
                case "tiered": try .tiered(at: folder)
                case let other?: throw Failure("no store \(other)")
                }
        }
    }

    func run() async throws -> Outcome {
        guard arguments.operation == "cache" else { throw Failure("no operation \(arguments.operation)") }
        let expected: CacheStatistics.Outcome? = arguments.options["store"] == nil ? nil : .hit
        // The first one stores the response.
        _ = try await http.get(arguments.path).response()
        return try await measureRate(arguments) {
            let response = try await http.get(arguments.path).response()
            guard response.cacheOutcome == expected else {
                throw Failure("the cache's outcome was \(response.cacheOutcome?.description ?? "none")")
            }
            try check(status: response.status.code, response.value.count, of: arguments.bytes)
        }
    }
}
