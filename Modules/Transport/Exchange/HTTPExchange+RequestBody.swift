internal import NIOCore

/// The request's body, on its way out.
extension HTTPExchange {
    /// Pulls a streamed body from its reader into the connection.
    func pumpBody(
        length: Int64?, make: @escaping @Sendable () throws -> any TransportBodyReader, into host: some ExchangeHost,
        on eventLoop: any EventLoop
    ) {
        let pump = RequestBodyPump(host: NIOLoopBound(host, eventLoop: eventLoop), exchange: self)
        self.pump = Task { await pump.run(length: length, make: make) }
    }

    /// A promise that counts a write's bytes once the socket has them; the write deadline runs until then.
    func bodyPromise(_ bytes: ByteBuffer, on eventLoop: any EventLoop) -> EventLoopPromise<Void> {
        let promise = eventLoop.makePromise(of: Void.self)
        let count = bytes.readableBytes
        deadlines.write = timeouts.idleWrite.map { .after($0) }
        promise.futureResult.assumeIsolated().whenSuccess {
            guard !self.hasEnded else { return }
            self.deadlines.write = nil
            self.metrics.requestBodyBytes += Int64(count)
            self.observer?.didSendBody(bytes: count)
        }
        return promise
    }

    /// The body's last byte was written.
    func bodyEnded() {
        metrics.times.requestEnd.tick = .now
        pump = nil
    }

    /// The rest of the body will not be sent.
    func stopBody() {
        pump?.cancel()
        pump = nil
        deadlines.write = nil
        deadlines.proceed = nil
    }
}
