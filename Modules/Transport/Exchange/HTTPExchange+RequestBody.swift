internal import NIOCore

/// The request's body, on its way out.
extension HTTPExchange {
    /// How far the request is.
    enum RequestProgress {
        /// The socket has not taken all of it yet, or its body waits for `100 Continue`.
        case sending
        /// The socket has taken its last byte.
        case sent
        /// The rest of its body will not be sent.
        case cutShort
    }

    /// Pulls a streamed body from its reader into the connection.
    func pumpBody(
        length: Int64?, make: @escaping @Sendable () throws -> any TransportBodyReader, into host: some ExchangeHost,
        on eventLoop: any EventLoop
    ) {
        let pump = RequestBodyPump(host: NIOLoopBound(host, eventLoop: eventLoop), exchange: self)
        self.pump = pump
        pump.start(length: length, make: make)
    }

    /// Bytes of the body are given to the socket. The write deadline runs while any are on their way, and begins anew with
    /// each write that was taken.
    func willSendBody() {
        writesInFlight += 1
        if writesInFlight == 1 { armWriteDeadline() }
    }

    /// The socket has taken what one write gave it.
    func didSendBody(bytes count: Int) {
        guard !hasEnded else { return }
        writesInFlight -= 1
        if writesInFlight == 0 { deadlines.write = nil } else { armWriteDeadline() }
        metrics.requestBodyBytes += Int64(count)
        observer?.didSendBody(bytes: count)
    }

    /// The server has the time of an idle connection from now on to take more of the request.
    func armWriteDeadline() {
        guard requestProgress == .sending else { return }
        deadlines.write = timeouts.idleWrite.map { .after($0) }
    }

    /// The socket has taken the request's last byte: from now on it is the server's turn.
    func bodyEnded() {
        guard requestProgress != .sent else { return }
        requestProgress = .sent
        metrics.isRequestBodyCutShort = false
        metrics.times.requestEnd.tick = .now
        deadlines.write = nil
        armReadDeadline()
    }

    /// The rest of the body will not be sent: the server has answered without it, or the exchange is over.
    func stopBody() {
        pump?.stop()
        pump = nil
        guard requestProgress == .sending else { return }
        requestProgress = .cutShort
        metrics.isRequestBodyCutShort = request.body.map { $0.length != 0 } ?? false
        deadlines.write = nil
        deadlines.proceed = nil
        armReadDeadline()
    }
}

/// What a final response says of a request that is still being sent.
enum EarlyResponse {
    /// Whether the server may still want the rest of the body. One that has refused the request, or says that it should be
    /// sent elsewhere (RFC 9110, 15.4.8 and 15.4.9), does not; one that has accepted it may be reading on while it
    /// answers, and says otherwise by closing the connection (RFC 9112, 9.3) or resetting the stream (RFC 9113, 8.1).
    static func wantsBody(status: Int) -> Bool {
        status < 400 && status != 307 && status != 308
    }
}
