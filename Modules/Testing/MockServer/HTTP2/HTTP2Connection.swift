internal import NIOCore

/// Serves the streams of one connection over HTTP/2, side by side.
struct HTTP2Connection: Sendable {
    let connection: ServerConnection
    let streams: InboundQueue<HTTP2Stream>
    let responder: Responder

    func serve() async {
        await withDiscardingTaskGroup { group in
            while let stream = try? await streams.next() {
                group.addTask { await serve(stream) }
            }
        }
    }

    /// Serves one request, in a task that is cancelled when its stream closes.
    private func serve(_ stream: HTTP2Stream) async {
        let task = Task { await exchange(on: stream) }
        stream.channel.closeFuture.whenComplete { _ in task.cancel() }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func exchange(on stream: HTTP2Stream) async {
        do {
            guard case .head(let head) = try await stream.inbound.next() else { return }
            try await answer(head, on: stream)
        } catch is ExchangeEnded {
            return
        } catch {
            // A client that has reset the stream or left did no wrong.
            guard stream.channel.isActive, !(error is CancellationError) else { return }
            responder.log.recordFailure(on: connection.index, "\(error)")
            await stream.reset(.internalError)
        }
    }

    private func answer(_ head: RequestHead, on stream: HTTP2Stream) async throws {
        let request = RecordedRequest(
            head, connectionIndex: connection.index, exchangeIndex: stream.exchangeIndex,
            session: connection.tlsSession)
        let faults = responder.configuration.faults.faults(for: request)
        let body = RequestBodyReader(
            stream.inbound, link: stream, faults: faults, sendsContinue: responder.sendsContinue(head))
        let response = try await responder.respond(to: request, body, faults, over: stream)
        if response.closesConnection && !response.body.isRaw { await stream.goAway(.noError) }
        let sink = HTTP2ResponseSink(response, to: stream, method: request.method)
        try await MockResponseWriter(response, to: sink, over: stream).run()
        if response.body.isRaw && response.closesConnection { await stream.shut() }
        // A client that was not told to continue may send its body, or not (RFC 9113, 8.1).
        if head.expectsContinue && !body.hasBegun { return await stream.reset(.noError) }
        try await body.drain()
    }
}
