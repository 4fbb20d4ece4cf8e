import AsyncHTTPClient
import Configuration
import GatewayServer
import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// The same gateway with async-http-client, for the comparison. `LOOPS=true` runs the tasks of its connections on the
/// event loops, as the other gateway does.
@main
struct GatewayAsyncHTTPClient {
    static func main() async throws {
        let config = ConfigReader(provider: EnvironmentVariablesProvider())
        let settings = try GatewaySettings(reading: config)
        let logger = Logger(label: "gateway")
        let loops = MultiThreadedEventLoopGroup.singleton
        let telemetry = settings.isObserved ? Telemetry(logger: logger, ratio: settings.traceRatio) : nil
        let upstream = ClientUpstream(
            settings, on: loops, telemetry: telemetry, prefersLoops: config.bool(forKey: "loops", default: false))
        let gateway = Gateway(to: upstream, settings: settings, on: loops, telemetry: telemetry, logger: logger)
        try await ServiceGroup(
            services: [gateway], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
        try await upstream.client.shutdown()
    }
}

/// The upstream by async-http-client.
struct ClientUpstream: Upstream {
    let client: HTTPClient
    let taskExecutors: [ObjectIdentifier: any TaskExecutor]

    init(_ settings: GatewaySettings, on loops: any EventLoopGroup, telemetry: Telemetry?, prefersLoops: Bool) {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = settings.connections
        configuration.httpVersion = .http1Only
        configuration.redirectConfiguration = .disallow
        configuration.tracing.tracer = telemetry?.tracer
        client = HTTPClient(eventLoopGroupProvider: .shared(loops), configuration: configuration)
        let pairs = loops.makeIterator().map { (ObjectIdentifier($0), LoopExecutor(loop: $0) as any TaskExecutor) }
        taskExecutors = prefersLoops ? Dictionary(pairs) { first, _ in first } : [:]
    }

    func send(_ request: UpstreamRequest) async throws -> UpstreamResponse<HTTPClientResponse.Body> {
        var sent = HTTPClientRequest(url: request.url)
        sent.method = HTTPMethod(rawValue: request.method.rawValue)
        sent.headers = HTTPHeaders(request.headerFields.map { ($0.name.rawName, $0.value) })
        if let body = request.body {
            sent.body = .stream(body, length: body.length.map { .known(Int64($0)) } ?? .unknown)
        }
        do {
            let deadline = NIODeadline.now() + TimeAmount(request.timeout)
            let response = try await client.execute(sent, deadline: deadline)
            var head = HTTPResponse(status: HTTPResponse.Status(code: Int(response.status.code)))
            for (name, value) in response.headers {
                if let name = HTTPField.Name(name) { head.headerFields.append(HTTPField(name: name, value: value)) }
            }
            return UpstreamResponse(head: head, body: response.body)
        } catch let error as HTTPClientError where error == .deadlineExceeded {
            throw UpstreamFailure.late
        } catch {
            throw error is CancellationError ? UpstreamFailure.cancelled : .unreachable
        }
    }
}

/// Runs tasks on an event loop.
private final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
