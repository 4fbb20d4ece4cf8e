internal import FoundationEssentials
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Serves the requests of one connection, one after another.
struct HTTPConnection: Sendable {
    let connection: ServerConnection
    let inbound: InboundQueue<HTTPServerRequestPart>
    let handler: MockServer.Handler
    let service: Service

    func serve() async throws {
        var exchangeIndex = 0
        while let head = try await nextHead() {
            guard try await serve(head, exchangeIndex) else { return }
            exchangeIndex += 1
        }
    }

    private func nextHead() async throws -> HTTPRequestHead? {
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
    private func serve(_ head: HTTPRequestHead, _ exchangeIndex: Int) async throws -> Bool {
        var request = RecordedRequest(
            head, connectionIndex: connection.index, exchangeIndex: exchangeIndex, session: connection.tlsSession)
        let faults = service.configuration.faults.faults(for: request)
        let body = RequestBodyReader(
            inbound, connection: connection, faults: faults,
            sendsContinue: service.configuration.sendsContinue && head.expectsContinue)
        var response = try await respond(to: &request, body, faults)
        response.faults = faults + response.faults
        // A client that was not told to continue may send its body, or not: only closing is unambiguous.
        let isBodyUncertain = head.expectsContinue && !body.hasBegun
        response.closesConnection =
            response.closesConnection || !head.isKeepAlive || isBodyUncertain
            || exchangeIndex + 1 >= service.configuration.maximumRequestsPerConnection ?? .max
        let writer = MockResponseWriter(response, to: connection, method: request.method, version: head.version)
        let keepsOpen = try await writer.run()
        if !isBodyUncertain { try await body.drain() }
        return keepsOpen
    }

    private func respond(
        to request: inout RecordedRequest, _ body: RequestBodyReader, _ faults: [MockServer.Fault]
    ) async throws -> MockResponse {
        switch service.configuration.requestBodies {
        case .streamed:
            let place = service.log.record(request)
            body.onProgress { [log = service.log] progress in
                log.update(place) { $0.note(progress) }
            }
            for fault in faults where fault.trigger == .requestHead { try await connection.perform(fault.effect) }
            request.chunks = RequestBodyChunks(.live(body))
        case .collected(let limit):
            do {
                for fault in faults where fault.trigger == .requestHead { try await connection.perform(fault.effect) }
                try await collect(body, upTo: limit, into: &request)
            } catch {
                service.log.record(request)
                throw error
            }
            service.log.record(request)
            guard request.isComplete else {
                return MockResponse(status: .contentTooLarge, closesConnection: true)
            }
        }
        return await handler(request)
    }

    /// Reads the body into the request; stops at the limit, and leaves the request incomplete then.
    private func collect(_ body: RequestBodyReader, upTo limit: Int, into request: inout RecordedRequest) async throws {
        while let chunk = try await body.next() {
            guard request.body.count + chunk.readableBytes <= limit else { return }
            request.body.append(contentsOf: chunk.readableBytesView)
            request.bodyLength = request.body.count
        }
        request.note(body.progress)
        request.chunks = RequestBodyChunks(.bytes(request.body))
    }
}

extension HTTPRequestHead {
    fileprivate var expectsContinue: Bool {
        version == .http1_1 && headers[canonicalForm: "expect"].contains { $0.lowercased() == "100-continue" }
    }
}

extension RecordedRequest {
    fileprivate mutating func note(_ progress: RequestBodyReader.Progress) {
        bodyLength = progress.received
        trailers = progress.trailers
        isComplete = progress.isComplete
    }
}
