import BenchSupport
import CoreMetrics
import FoundationEssentials
import InMemoryTracing
import Linnet
import LinnetMetrics
import LinnetTracing
import MetricsTestKit

/// Linnet, with its public sessions.
@main
struct BenchLinnet {
    let arguments: Arguments
    let http: HTTPSession
    let path: String
    let url: URL
    let loops: Loops

    static func main() {
        runBenchmark { arguments in try await BenchLinnet(arguments).run() }
    }

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        let loops = Loops(arguments)
        guard let base = URL(string: arguments.base), let url = URL(string: arguments.url) else {
            throw Failure("\(arguments.url) is not a valid URL")
        }
        http = try HTTPSession(baseURL: base) {
            // With fewer connections than requests, most requests wait: `connections=N`.
            let connections = arguments.number(
                "connections", arguments.operation == "waiting" ? 8 : arguments.concurrency)
            $0.pool.connectionsPerOrigin = connections
            $0.pool.connections = max(256, connections)
            if arguments.operation == "idle" { $0.http2.maximumConnectionsPerOrigin = connections }
            if let delay = arguments.options["hedge"].flatMap({ Int($0) }) {
                $0.hedging = HedgingPolicy(after: .milliseconds(delay))
                // Otherwise a moment in which every answer is late would double the load.
                $0.retryBudget = RetryBudget()
            }
            if arguments.options["equipped"] != nil { Self.equip(&$0) }
            switch arguments.options["observed"] {
            case nil: break
            case "discarded":
                let metrics = MetricsInstrument(factory: NOOPMetricsHandler.instance)
                $0.instruments = [metrics, .tracing(tracer: DiscardingTracer())]
            default: $0.instruments = [.metrics(factory: TestMetrics()), .tracing(tracer: InMemoryTracer())]
            }
            if arguments.options["credential"] != nil, let origin = Origin(arguments.base) {
                $0.authenticator = .renewing(RenewableCredential(Bearer(), "token", for: [origin]))
            }
            $0.eventLoops = loops.eventLoops
            $0.securityPolicy = try Self.policy(arguments)
            $0.httpVersions = arguments.isHTTP2 ? .http2 : .http1
        }
        path = arguments.path
        self.url = url
        self.loops = loops
    }

    static func policy(_ arguments: Arguments) throws -> SecurityPolicy {
        guard let file = arguments.options["ca"] else { return .systemTrust }
        let anchors = try TrustAnchors.file(file)
        guard let pin = arguments.options["pin"] else {
            return .everyHost(.systemTrust(anchors: anchors).insecureAllowingCleartext())
        }
        return try .publicKeyPins([PublicKeyPin(pin)], anchors: anchors)
    }

    /// What a program may use that the responses have no occasion for.
    static func equip(_ configuration: inout HTTPSession.Configuration) {
        configuration.cookieJar = CookieJar()
        configuration.cacheStore = MemoryCacheStore()
        configuration.retryPolicy = RetryPolicy(limit: 2)
    }

    struct Bearer: Authenticator {
        func apply(_ token: String, to request: inout SessionRequest) {
            request.headerFields[.authorization] = "Bearer \(token)"
        }

        func renew(_ token: String?) async throws -> String { throw Failure("the token was refused") }
    }

    func run() async throws -> Outcome {
        switch arguments.operation {
        case "get": try await measureRate(arguments, executors: loops.executors(http)) { try await get(path) }
        case "latency":
            try await measureLatencies(arguments, executors: loops.executors(http)) { try await get(path) }
        case "json": try await measureRate(arguments) { try await json() }
        case "body": try await measureThroughput(arguments, prepare: { try await get("1k", 1024) }, body)
        case "idle": try await measureIdleConnections(arguments) { try await get(path) }
        case "waiting": try await measureWaitingRequests(arguments) { try await get(path) }
        case "unread": try await measureUnreadBodies(arguments, prepare: { try await get("1k", 1024) }, firstBytes)
        case "count": try await count(arguments.number("requests", 200))
        case "download", "upload": try await file()
        default: throw Failure("no operation \(arguments.operation)")
        }
    }

    func get(_ path: String, _ bytes: Int? = nil, checksVersion: Bool = true) async throws {
        let response =
            arguments.options["handle"] != nil
            ? try await http.get(path).task().value : try await http.get(path).response()
        if checksVersion, response.metrics.last?.httpVersion != (arguments.isHTTP2 ? "h2" : "http/1.1") {
            throw Failure("the response came over \(response.metrics.last?.httpVersion ?? "nothing")")
        }
        try check(status: response.status.code, response.value.count, of: bytes ?? arguments.bytes)
    }

    func json() async throws {
        try await http.get(path).value(as: Page.self).check()
    }

    func body() async throws {
        let response = try await http.call(SessionRequest(url: url)).bytes()
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        try check(status: response.head.status.code, count, of: arguments.bytes)
    }

    /// Reads the first bytes of a body, and returns the iterator that keeps it open.
    func firstBytes() async throws -> Held {
        var iterator = try await http.call(SessionRequest(url: url)).bytes().body.makeAsyncIterator()
        guard try await iterator.next() != nil else { throw Failure("the body is empty") }
        return Held(iterator)
    }

    /// Sends exactly the given number of requests sequentially, so that two runs can be compared. Only the first one
    /// asks for the metrics, which is no part of a request.
    func count(_ requests: Int) async throws -> Outcome {
        for number in 0..<requests {
            if arguments.options["json"] != nil {
                try await json()
            } else {
                try await get(path, checksVersion: number == 0)
            }
        }
        return Outcome(Double(requests), "requests", count: requests)
    }
}
