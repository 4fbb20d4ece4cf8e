internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Serves the requests of one connection over HTTP/1.1, one after another.
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

    /// Serves one request, and returns whether the connection goes on.
    private func serve(_ head: RequestHead, _ exchangeIndex: Int) async throws -> Bool {
        let request = RecordedRequest(
            head, connectionIndex: connection.index, exchangeIndex: exchangeIndex, session: connection.tlsSession)
        let faults = responder.configuration.faults.faults(for: request)
        let body = RequestBodyReader(
            inbound, link: connection, faults: faults, sendsContinue: responder.sendsContinue(head))
        var response = try await responder.respond(to: request, body, faults, over: connection)
        // A client that was not told to continue may send its body, or not: only closing is unambiguous.
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
