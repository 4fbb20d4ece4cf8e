import FoundationEssentials
package import GatewayServer
import HTTPTypes
package import Linnet
import LinnetMetrics
import LinnetTracing
package import NIOCore

/// The upstream by Linnet: one session, on the event loops of the server.
package struct LinnetUpstream: Upstream {
    package typealias Body = AsyncMapSequence<HTTPResponseBody, ByteBuffer>

    package let session: HTTPSession
    package let taskExecutors: [ObjectIdentifier: any TaskExecutor]

    package init(
        _ settings: GatewaySettings, _ sessionSettings: HTTPSession.Settings, on loops: any EventLoopGroup,
        telemetry: Telemetry?
    ) throws {
        session = try HTTPSession(settings: sessionSettings) {
            $0.eventLoops = .group(loops)
            $0.pool.connectionsPerOrigin = settings.connections
            $0.pool.connections = settings.connections
            $0.httpVersions = .http1
            $0.proxies = .none
            // The bytes and the fields pass as they are.
            $0.contentCodings = []
            $0.requestSerializer = FormRequestSerializer(headerFields: [:])
            $0.redirectPolicy = .doNotFollow
            if let telemetry {
                $0.instruments = [.metrics(factory: telemetry.metrics), .tracing(tracer: telemetry.tracer)]
            }
        }
        let pairs = zip(loops.makeIterator().map { ObjectIdentifier($0) }, session.taskExecutors)
        taskExecutors = Dictionary(pairs) { first, _ in first }
    }

    package func send(_ request: UpstreamRequest) async throws -> UpstreamResponse<Body> {
        // Nil for a URL whose characters would have to be changed.
        guard let url = URL(string: request.url, encodingInvalidCharacters: false) else {
            throw UpstreamFailure.invalidRequest
        }
        var call = SessionRequest(url: url, method: request.method, headerFields: request.headerFields)
        call.options.timeout = request.timeout
        call.options.template = request.template
        if let body = request.body {
            call.body = .chunks(body.map { Data($0.readableBytesView) }, length: body.length.map { Int64($0) })
        }
        do {
            let response = try await session.call(call).bytes(validation: .none)
            return UpstreamResponse(head: response.head, body: response.body.map { ByteBuffer(bytes: $0) })
        } catch {
            throw UpstreamFailure(error)
        }
    }
}

extension UpstreamFailure {
    init(_ error: SessionError) {
        self =
            switch error.code {
            case .cancelled: .cancelled
            case .timeout where error.timeout == .poolWait: .overloaded
            case .timeout: .late
            case .circuitOpen, .shutDown: .overloaded
            case .invalidRequest, .invalidURL: .invalidRequest
            default: .unreachable
            }
    }
}
