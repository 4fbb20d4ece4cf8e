import FoundationEssentials
import GatewayServer
import HTTPTypes
import Linnet
import LinnetServiceLifecycle
import LinnetTesting
import Logging
import NIOPosix
import ServiceLifecycle
import Synchronization
import Testing
import gateway

/// A gateway before a mock server, and the lines of its log.
struct RunningGateway: Sendable {
    let port: Int
    let upstream: MockServer
    let group: ServiceGroup
    let log: LogLines
    /// A client of the gateway that changes nothing.
    let client: HTTPSession

    func url(_ path: String) throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { throw TestFailure("no URL") }
        return url
    }

    func request(_ method: HTTPRequest.Method = .get, _ path: String, _ fields: HTTPFields = [:]) throws
        -> SessionRequest
    {
        SessionRequest(url: try url(path), method: method, headerFields: fields)
    }

    /// Sends a request, and returns its response whatever its status is.
    func send(_ request: SessionRequest) async throws -> (head: HTTPResponse, text: String) {
        let response = try await client.call(request).bytes(validation: .none)
        let body = try await response.body.collect(upTo: 1 << 24)
        return (response.head, String(decoding: body, as: UTF8.self))
    }

    func get(_ path: String, _ fields: HTTPFields = [:]) async throws -> (head: HTTPResponse, text: String) {
        try await send(request(.get, path, fields))
    }

    /// Expects the status of a GET.
    func expect(
        _ status: HTTPResponse.Status, for path: String, _ fields: HTTPFields = [:],
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let head = try await get(path, fields).head
        #expect(head.status == status, sourceLocation: location)
    }
}

struct TestFailure: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

/// Runs a gateway before an upstream for the time of a function.
func withGateway(
    _ configuration: MockServer.Configuration = MockServer.Configuration(),
    settings change: (inout GatewaySettings) -> Void = { _ in },
    upstream handler: @escaping MockServer.Handler,
    perform: nonisolated(nonsending) (RunningGateway) async throws -> Void
) async throws {
    try await withMockServer(configuration: configuration, handler: handler) { server in
        var settings = GatewaySettings(upstream: "http://127.0.0.1:\(server.port)")
        settings.port = 0
        settings.traceRatio = 1
        settings.shutdownDelay = .milliseconds(1)
        change(&settings)
        let loops = MultiThreadedEventLoopGroup.singleton
        let log = LogLines()
        let logger = Logger(label: "gateway") { _ in log.handler() }
        let telemetry = settings.isObserved ? Telemetry(logger: logger, ratio: settings.traceRatio) : nil
        let upstream = try LinnetUpstream(settings, HTTPSession.Settings(), on: loops, telemetry: telemetry)
        let ports = EventRecorder<Int>()
        let gateway = Gateway(
            to: upstream, settings: settings, on: loops, telemetry: telemetry, logger: logger
        ) { ports.record($0) }
        let group = ServiceGroup(services: [upstream.session, gateway], logger: logger)
        async let end: Void = group.run()
        let port = try await ports.wait(count: 1)[0]
        let client = try HTTPSession {
            $0.contentCodings = []
            $0.redirectPolicy = .doNotFollow
            $0.proxies = .none
            $0.pool.connectionsPerOrigin = 64
        }
        do {
            try await perform(RunningGateway(port: port, upstream: server, group: group, log: log, client: client))
        } catch {
            await client.shutdown(.immediate)
            await group.triggerGracefulShutdown()
            throw error
        }
        await client.shutdown(.immediate)
        await group.triggerGracefulShutdown()
        try await end
    }
}

/// Waits until a condition holds. The time limit of the suite is the only one.
func wait(until condition: () throws -> Bool) async throws {
    while try !condition() { try await Task.sleep(for: .milliseconds(5)) }
}

/// The lines of a log, with their metadata.
final class LogLines: Sendable {
    private let state = Mutex<[String]>([])

    var lines: [String] { state.withLock { $0 } }

    fileprivate func append(_ line: String) { state.withLock { $0.append(line) } }

    func handler() -> any LogHandler { Handler(lines: self) }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            lines.append("\(event.level) \(event.message) \(all.map { "\($0)=\($1)" }.sorted().joined(separator: " "))")
        }
    }
}
