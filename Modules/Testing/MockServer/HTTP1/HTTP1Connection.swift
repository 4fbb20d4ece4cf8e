internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Serves the HTTP/1.1 requests of one connection sequentially.
struct HTTP1Connection: Sendable {
    let connection: ServerConnection
    let inbound: InboundQueue<RequestPart>
    let responder: Responder

    func serve() async throws {
        var exchangeIndex = 0
        while let head = try await nextHead() {
            guard try await serve(head, exchangeIndex) else { return }
            exchangeIndex += 1
        }
    }

    private func nextHead() async throws -> RequestHead? {
        do {
            guard case .head(let head) = try await inbound.next() else { return nil }
            return head
        } catch let error as HTTPParserError {
            let badRequest = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            try? await connection.write(ByteBuffer(string: badRequest))
            throw error
        }
    }

    /// Serves one request, and returns whether the connection stays open.
    private func serve(_ head: RequestHead, _ exchangeIndex: Int) async throws -> Bool {
        let request = RecordedRequest(
            head, connectionIndex: connection.index, exchangeIndex: exchangeIndex, session: connection.tlsSession)
        let faults = responder.configuration.faults.faults(for: request)
        let body = RequestBodyReader(
            inbound, link: connection, faults: faults, sendsContinue: responder.sendsContinue(head))
        var response = try await responder.respond(to: request, body, faults, over: connection)
        if let webSocket = response.webSocket {
            try await body.drain()
            let refusal = try await webSocket.run(request, over: connection, response.faults)
            guard let refusal else { return false }
            response = refusal
        }
        // Without `100 Continue` the client may or may not send the body, so the connection must be closed.
        let isBodyUncertain = head.expectsContinue && !body.hasBegun
        response.closesConnection =
            response.closesConnection || !head.isKeepAlive || isBodyUncertain
            || exchangeIndex + 1 >= responder.configuration.maximumRequestsPerConnection ?? .max
        let sink = HTTP1ResponseSink(response, to: connection, method: request.method, isHTTP10: head.isHTTP10)
        try await MockResponseWriter(response, to: sink, over: connection).run()
        if !isBodyUncertain { try await body.drain() }
        return !sink.closes
    }
}

/// Converts the output of NIO's HTTP/1.1 decoder to request parts.
final class HTTP1RequestParts: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = RequestPart

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part: RequestPart =
            switch unwrapInboundIn(data) {
            case .head(let head): .head(RequestHead(head))
            case .body(let bytes): .body(bytes)
            case .end(let trailers): .end(trailers.map { HTTPFields($0) })
            }
        context.fireChannelRead(wrapInboundOut(part))
    }
}

extension RequestHead {
    fileprivate init(_ head: HTTPRequestHead) {
        self.init(
            method: HTTPRequest.Method(head.method.rawValue) ?? .get, target: head.uri,
            authority: head.headers.first(name: "host"), headerFields: HTTPFields(head.headers),
            httpVersion: "HTTP/\(head.version.major).\(head.version.minor)", isKeepAlive: head.isKeepAlive)
    }
}

extension HTTPFields {
    /// Converts NIO's headers, whose names the decoder has validated.
    fileprivate init(_ headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }
}
