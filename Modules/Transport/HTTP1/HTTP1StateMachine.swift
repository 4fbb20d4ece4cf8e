/// What an HTTP/1.1 connection may do next (RFC 9112, 9): one exchange at a time, and when the connection can be used
/// again. Pure: each event returns what to do.
struct HTTP1StateMachine {
    /// How far the request is.
    enum RequestPhase: Equatable {
        /// The head is out, the body waits for `100 Continue`.
        case awaitingContinue
        case sendingBody
        /// The rest of the body will not be sent; the connection ends with this exchange.
        case abandoned
        case complete
    }

    enum ResponsePhase: Equatable {
        case awaitingHead
        case body
        /// The last byte is there; the request's is not out.
        case complete
    }

    private struct Exchange {
        var request: RequestPhase
        var response = ResponsePhase.awaitingHead
        var mayReuse: Bool
        /// The server reads nothing more once its response is complete.
        var serverCloses = false
    }

    enum State: Equatable {
        case idle
        case busy
        case closed
    }

    enum InformationalAction: Equatable {
        case forward
        case forwardAndSendBody
        case fail(Failure)
    }

    enum HeadAction: Equatable {
        case deliver
        /// Deliver, and stop sending the body: the server has answered without it.
        case deliverAndAbandonBody
        case fail(Failure)
    }

    enum EndAction: Equatable {
        /// The exchange is over, the connection is free.
        case complete
        /// The exchange is over, and so is the connection.
        case completeAndClose
        /// The server has answered before it has read the request to its end, and lets the client go on (RFC 9112, 9.3): the
        /// exchange is over with the request's last byte.
        case hold
        case fail(Failure)
    }

    enum Failure: Equatable {
        case unexpectedResponse
        case switchedProtocols
    }

    private var exchange: Exchange?
    private var isClosed = false

    var state: State {
        if isClosed { .closed } else { exchange == nil ? .idle : .busy }
    }

    var requestPhase: RequestPhase? { exchange?.request }
    var responsePhase: ResponsePhase? { exchange?.response }

    /// Begins an exchange; false when the connection cannot take one.
    mutating func start(hasBody: Bool, expectsContinue: Bool, asksToClose: Bool) -> Bool {
        guard state == .idle else { return false }
        let phase: RequestPhase = !hasBody ? .complete : expectsContinue ? .awaitingContinue : .sendingBody
        exchange = Exchange(request: phase, mayReuse: !asksToClose)
        return true
    }

    /// The wait for `100 Continue` is over; true when the body is to be sent now.
    mutating func continueTimedOut() -> Bool {
        guard exchange?.request == .awaitingContinue else { return false }
        exchange?.request = .sendingBody
        return true
    }

    /// The socket has taken the request's last byte; what to do when the response was complete before.
    mutating func requestBodyEnded() -> EndAction? {
        guard var current = exchange, current.request == .sendingBody else { return nil }
        current.request = .complete
        exchange = current
        return current.response == .complete ? end(current, hasSurplus: false) : nil
    }

    /// The response is complete, and the rest of the request cannot be sent any more.
    mutating func requestBodyBroke() -> EndAction? {
        guard let current = exchange, current.response == .complete else { return nil }
        return end(current, hasSurplus: true)
    }

    mutating func receivedInformational(status: Int) -> InformationalAction {
        guard var current = exchange, current.response == .awaitingHead else { return .fail(.unexpectedResponse) }
        if status == 101 { return .fail(.switchedProtocols) }
        let sendsBody = status == 100 && current.request == .awaitingContinue
        if sendsBody { current.request = .sendingBody }
        exchange = current
        return sendsBody ? .forwardAndSendBody : .forward
    }

    /// The final response's head is there. A server that refuses before it has read the body does not want the rest, and
    /// would have to read it before the next request: the connection ends with this exchange (RFC 9112, 9.3).
    mutating func receivedHead(status: Int, keepsAlive: Bool) -> HeadAction {
        guard var current = exchange, current.response == .awaitingHead else { return .fail(.unexpectedResponse) }
        current.response = .body
        current.serverCloses = !keepsAlive
        current.mayReuse = current.mayReuse && keepsAlive
        let abandons =
            current.request == .awaitingContinue
            || (current.request == .sendingBody && !EarlyResponse.wantsBody(status: status))
        if abandons {
            current.request = .abandoned
            current.mayReuse = false
        }
        exchange = current
        return abandons ? .deliverAndAbandonBody : .deliver
    }

    /// The response's last byte is there; after a surplus, which nobody asked for, nothing more can be trusted.
    mutating func receivedEnd(hasSurplus: Bool = false) -> EndAction {
        guard var current = exchange, current.response == .body else { return .fail(.unexpectedResponse) }
        guard current.request == .sendingBody, !current.serverCloses, !hasSurplus else {
            return end(current, hasSurplus: hasSurplus)
        }
        current.response = .complete
        exchange = current
        return .hold
    }

    private mutating func end(_ current: Exchange, hasSurplus: Bool) -> EndAction {
        exchange = nil
        if current.mayReuse && current.request == .complete && !hasSurplus { return .complete }
        isClosed = true
        return .completeAndClose
    }

    /// The connection will serve no further exchange.
    mutating func close() {
        exchange = nil
        isClosed = true
    }
}
