import HTTPTypes
package import Hummingbird
import NIOCore

/// Answers the requests of the gateway's clients.
package struct GatewayResponder<Client: Upstream>: HTTPResponder {
    let forwarder: Forwarder<Client>
    let draining: Draining

    package func respond(to request: Request, context: GatewayContext) async -> Response {
        let path = request.head.path ?? ""
        var response =
            path.hasPrefix(UpstreamRequest.prefix + "/")
            ? await forwarder.forward(request, from: context.client) : own(path.prefix { $0 != "?" })
        // The client opens its next connection to another gateway.
        if !draining.isReady { response.headers[.connection] = "close" }
        return response
    }

    private func own(_ path: Substring) -> Response {
        switch path {
        case "/healthz": Response(text: "alive\n")
        case "/readyz": draining.isReady ? Response(text: "ready\n") : Problem.notReady.response
        case "/metrics": forwarder.telemetry.map { Response(metrics: $0.metrics) } ?? Problem.notFound.response
        default: Problem.notFound.response
        }
    }
}

/// The address of a request's client.
package struct GatewayContext: InitializableFromSource {
    let client: SocketAddress?

    package init(source: ApplicationRequestContextSource) {
        client = source.channel.remoteAddress
    }
}

extension Response {
    fileprivate init(metrics: PrometheusMetrics) {
        self.init(text: metrics.text, type: "text/plain; version=0.0.4; charset=utf-8")
    }

    init(status: HTTPResponse.Status = .ok, text: String, type: String = "text/plain; charset=utf-8") {
        self.init(
            status: status, headers: [.contentType: type], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
