import HTTPTypes
import Hummingbird
import NIOCore
import Tracing

/// Forwards a client's request to the upstream, and its response to the client.
struct Forwarder<Client: Upstream>: Sendable {
    /// A body of at most this size is written together with its head, in one packet.
    private static var smallBody: Int { 64 << 10 }

    let upstream: Client
    let settings: GatewaySettings
    let telemetry: Telemetry?

    func forward(_ request: Request, from client: SocketAddress?) async -> Response {
        let observation = telemetry?.begin(request, route: UpstreamRequest.template)
        var body: ClientBody?
        do {
            let forwarded = try UpstreamRequest(request, from: client, settings: settings)
            body = forwarded.body
            let response = try await InstrumentationContext.$current.withValue(observation?.context) {
                try await upstream.send(forwarded)
            }
            return finishing(body, try await answer(response, to: request.method, observation))
        } catch {
            let problem = body?.isTooLarge == true ? .contentTooLarge : Problem(error)
            observation?.receive(problem.status)
            return finishing(body, problem.response)
        }
    }

    private func answer(
        _ response: UpstreamResponse<Client.Body>, to method: HTTPRequest.Method, _ observation: Telemetry.Observation?
    ) async throws -> Response {
        let status = response.head.status
        var fields = response.head.headerFields.answered()
        let length = fields[.contentLength].flatMap { Int($0) }
        if method == .head || status == .noContent || status == .notModified {
            // Without a length, the server would end the response to HEAD with an empty chunk.
            if method == .head, length == nil { fields[.connection] = "close" }
            observation?.receive(status)
            var answer = Response(status: status)
            answer.headers = fields
            return answer
        }
        if let length, length <= Self.smallBody {
            let bytes = try await response.body.collected()
            observation?.receive(status)
            return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: bytes))
        }
        let body = ResponseBody(contentLength: length) { writer in
            try await writer.write(response.body)
            try await writer.finish(nil)
            observation?.receive(status)
        }
        return Response(status: status, headers: fields, body: body)
    }

    /// Closes the body of the request once the response was written. If its end was not read by now, the connection is
    /// closed too, because a response before that end means that the rest is not wanted (RFC 9112, section 9.3).
    private func finishing(_ body: ClientBody?, _ response: Response) -> Response {
        guard let body, !body.isComplete else { return response }
        let content = response.body
        var response = response
        response.headers[.connection] = "close"
        response.body = ResponseBody(contentLength: content.contentLength) { writer in
            try await content.write(writer)
            await body.close()
        }
        return response
    }
}

extension AsyncSequence where Element == ByteBuffer {
    /// All bytes. The caller knows that they are few.
    fileprivate func collected() async throws -> ByteBuffer {
        var bytes = ByteBuffer()
        for try await var chunk in self {
            // The only chunk of most bodies is not copied.
            if bytes.readableBytes == 0 { bytes = chunk } else { bytes.writeBuffer(&chunk) }
        }
        return bytes
    }
}
