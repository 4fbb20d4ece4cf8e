internal import FoundationEssentials
internal import HTTPTypes
internal import NIOCore

/// Passes a request to the handler and returns its response, for both HTTP versions.
struct Responder: Sendable {
    let handler: MockServer.Handler
    let configuration: MockServer.Configuration
    let log: RequestLog

    /// Whether the reader of the body sends `100 Continue`.
    func sendsContinue(_ head: RequestHead) -> Bool {
        configuration.sendsContinue && head.expectsContinue
    }

    /// Returns the response, with the faults of the plan before its own.
    func respond(
        to request: RecordedRequest, _ body: RequestBodyReader, _ faults: [MockServer.Fault],
        over link: any ExchangeLink
    ) async throws -> MockResponse {
        var request = request
        var response = try await answer(&request, body: body, faults: faults, on: link)
        response.faults = faults + response.faults
        return response
    }

    private func answer(
        _ request: inout RecordedRequest, body: RequestBodyReader, faults: [MockServer.Fault],
        on link: any ExchangeLink
    ) async throws -> MockResponse {
        switch configuration.requestBodies {
        case .streamed:
            // A reader of the record can rely on the stall.
            for fault in faults where fault.trigger == .requestHead && fault.effect == .stallConnection {
                await link.freeze()
            }
            let place = log.record(request)
            body.onProgress { [log] progress in
                log.update(place) { $0.note(progress) }
            }
            for fault in faults where fault.trigger == .requestHead { try await link.perform(fault.effect) }
            request.bodyChunks = RequestBodyChunks(.live(body))
        case .collected(let limit):
            do {
                for fault in faults where fault.trigger == .requestHead { try await link.perform(fault.effect) }
                try await collect(body, upTo: limit, into: &request)
            } catch {
                log.record(request)
                throw error
            }
            log.record(request)
            guard request.isComplete else {
                return MockResponse(status: .contentTooLarge, closesConnection: true)
            }
        }
        return await handler(request)
    }

    /// Reads the body into the request. At the limit it stops and leaves the request incomplete.
    private func collect(_ body: RequestBodyReader, upTo limit: Int, into request: inout RecordedRequest) async throws {
        while let chunk = try await body.next() {
            guard request.body.count + chunk.readableBytes <= limit else { return }
            request.body.append(contentsOf: chunk.readableBytesView)
            request.bodyLength = request.body.count
        }
        request.note(body.progress)
        request.bodyChunks = RequestBodyChunks(.bytes(request.body))
    }
}

extension RecordedRequest {
    fileprivate mutating func note(_ progress: RequestBodyReader.Progress) {
        bodyLength = progress.received
        trailers = progress.trailers
        isComplete = progress.isComplete
    }
}
