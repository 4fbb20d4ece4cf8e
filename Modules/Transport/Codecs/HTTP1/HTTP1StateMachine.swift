/// The state of an HTTP/1.1 connection (RFC 9112, 9): one exchange at a time, and whether the connection can be reused.
/// Pure: each event returns an action.
struct HTTP1StateMachine {
    /// The progress of the request.
    enum RequestPhase: Equatable {
        /// The head was sent; the body waits for `100 Continue`.
        case awaitingContinue
        case sendingBody
        /// The rest of the body is not sent; the connection ends with this exchange.
        case abandoned
        case complete
    }

    enum ResponsePhase: Equatable {
        case awaitingHead
        case body
        /// The response is complete; the request is not.
        case complete
    }

    private struct Exchange {
        var request: RequestPhase
        var response = ResponsePhase.awaitingHead
        var mayReuse: Bool
        /// The request asks to switch protocols.
        let mayUpgrade: Bool
        /// The server closes the connection after its response.
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
        /// The exchange has ended, and the connection is no longer HTTP.
        case switchProtocols
        case fail(Failure)
    }

    enum HeadAction: Equatable {
        case deliver
        /// Deliver the response and stop sending the body.
        case deliverAndAbandonBody
        case fail(Failure)
    }

    enum EndAction: Equatable {
        /// The exchange has ended and the connection can be reused.
        case complete
        /// The exchange and the connection have ended.
        case completeAndClose
        /// The server answered before it read the whole request and accepts the rest (RFC 9112, 9.3): the exchange ends
        /// with the request's last byte.
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

    /// Starts an exchange. Returns false if the connection cannot take one.
    mutating func start(hasBody: Bool, expectsContinue: Bool, asksToClose: Bool, mayUpgrade: Bool = false) -> Bool {
        guard state == .idle else { return false }
        let phase: RequestPhase = !hasBody ? .complete : expectsContinue ? .awaitingContinue : .sendingBody
        exchange = Exchange(request: phase, mayReuse: !asksToClose, mayUpgrade: mayUpgrade)
        return true
    }

    /// The wait for `100 Continue` has ended. Returns true if the body must be sent now.
    mutating func continueTimedOut() -> Bool {
        guard exchange?.request == .awaitingContinue else { return false }
        exchange?.request = .sendingBody
        return true
    }

    /// The socket has accepted the request's last byte. Returns the action if the response was complete.
    mutating func requestBodyEnded() -> EndAction? {
        guard var current = exchange, current.request == .sendingBody else { return nil }
        current.request = .complete
        exchange = current
        return current.response == .complete ? end(current, hasSurplus: false) : nil
    }

    /// The rest of the request cannot be sent. Returns the action if the response was complete.
    mutating func requestBodyBroke() -> EndAction? {
        guard let current = exchange, current.response == .complete else { return nil }
        // The server still expects the rest of the body, so that the connection cannot be used again.
        return end(current, hasSurplus: true)
    }

    mutating func receivedInformational(status: Int) -> InformationalAction {
        guard var current = exchange, current.response == .awaitingHead else { return .fail(.unexpectedResponse) }
        if status == 101 {
            // Also a server that switches before it has the whole request (RFC 9110, 7.8).
            guard current.mayUpgrade, current.request == .complete else { return .fail(.switchedProtocols) }
            close()
            return .switchProtocols
        }
        let sendsBody = status == 100 && current.request == .awaitingContinue
        if sendsBody { current.request = .sendingBody }
        exchange = current
        return sendsBody ? .forwardAndSendBody : .forward
    }

    /// The head of the final response has arrived. A server that refuses the request before it has read the body does
    /// not want the rest and would have to read it before the next request, so the connection ends with this exchange
    /// (RFC 9112, 9.3).
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

    /// The response is complete. After surplus bytes the connection can no longer be trusted.
    mutating func receivedEnd(hasSurplus: Bool = false) -> EndAction {
        guard var current = exchange, current.response == .body else { return .fail(.unexpectedResponse) }
        // A server that closes the connection does not read the rest of the body (RFC 9112, 9.3).
        guard current.request == .sendingBody, !current.serverCloses, !hasSurplus else {
            return end(current, hasSurplus: hasSurplus)
        }
        current.response = .complete
        exchange = current
        return .hold
    }

    private mutating func end(_ current: Exchange, hasSurplus: Bool) -> EndAction {
        exchange = nil
        // After a body that was cut short, the server would read the next request as the rest of it.
        if current.mayReuse && current.request == .complete && !hasSurplus { return .complete }
        isClosed = true
        return .completeAndClose
    }

    /// The connection takes no further exchange.
    mutating func close() {
        exchange = nil
        isClosed = true
    }
}
