internal import HTTPTypes
internal import NIOCore

/// The response, from its head to its last byte.
extension HTTPExchange {
    /// The most bytes of a body that is handed over whole; nil for a streamed one.
    var collects: Int? {
        guard case .whole(let limit) = request.delivery else { return nil }
        return request.streamsUnsuccessfulResponses && statusCode >= 300 ? nil : limit
    }

    /// Takes the head, whose status the caller has read already.
    func received(_ head: HTTPResponse, status: Int) {
        metrics.times.responseStart.tick = .now
        self.head = head
        statusCode = status
    }

    /// Takes bytes of the body; an error when they are more than the limit.
    func received(_ bytes: inout ByteBuffer) -> TransportError? {
        metrics.responseBodyBytes += Int64(bytes.readableBytes)
        if let bodyChannel {
            if !bodyChannel.push(bytes) { pauseReading() }
            return nil
        }
        let limit = collects ?? .max
        guard collected.readableBytes + bytes.readableBytes <= limit else {
            return TransportError(.bodyTooLarge, "The response's body has more than \(limit) bytes.")
        }
        if collected.readableBytes == 0 {
            collected = bytes
        } else {
            collected.writeBuffer(&bytes)
        }
        return nil
    }

    /// Takes bytes of a body whose head was handed over, all that have come at a time.
    func received(_ buffers: some Collection<ByteBuffer>) {
        for buffer in buffers { metrics.responseBodyBytes += Int64(buffer.readableBytes) }
        if let bodyChannel, !bodyChannel.push(buffers) { pauseReading() }
    }

    /// Whether the caller of a streamed response is still to be given its head.
    var awaitsStreamedDelivery: Bool {
        head != nil && waiter != nil && collects == nil
    }

    /// Hands over a streamed response: its head, and what came with it.
    func deliverStreamed(by host: some ExchangeHost, on eventLoop: any EventLoop) {
        guard let head else { return }
        let host = NIOLoopBound(host, eventLoop: eventLoop)
        let channel = ResponseBodyChannel(
            runLater: { eventLoop.execute($0) },
            resumeReading: { eventLoop.execute { host.value.resumeReading(self) } },
            abandonExchange: { error in eventLoop.execute { host.value.cancel(self, error) } })
        bodyChannel = channel
        if collected.readableBytes > 0 {
            if !channel.push(collected) { pauseReading() }
            collected = ByteBuffer()
        }
        succeed(
            TransportResponse(
                head: head, body: TransportResponseBody(.stream(ResponseBodyReader(channel))), metrics: metrics))
    }

    /// The server has the time of an idle connection from now on to say the next word, unless it is not its turn: while
    /// the request is being sent, the response's reader is slow, or the response is complete.
    func armReadDeadline() {
        guard requestProgress != .sending, !isReadPaused, heldEnd == nil else { return }
        deadlines.read = timeouts.idleRead.map { .after($0) }
    }

    private func pauseReading() {
        isReadPaused = true
        deadlines.read = nil
    }
}
