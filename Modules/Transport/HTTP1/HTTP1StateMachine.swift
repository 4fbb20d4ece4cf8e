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
    }

    private struct Exchange {
        var request: RequestPhase
        var response = ResponsePhase.awaitingHead
        var mayReuse: Bool
        var informationalResponses = 0
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
        case fail(Failure)
    }

    enum Failure: Equatable {
        case unexpectedResponse
        case switchedProtocols
        case tooManyInformationalResponses
    }

    private let informationalLimit: Int
    private var exchange: Exchange?
    private var isClosed = false

    init(informationalLimit: Int) {
        self.informationalLimit = informationalLimit
    }

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

    /// The request's last byte was written.
    mutating func requestBodyEnded() {
        if exchange?.request == .sendingBody { exchange?.request = .complete }
    }

    mutating func receivedInformational(status: Int) -> InformationalAction {
        guard var current = exchange, current.response == .awaitingHead else { return .fail(.unexpectedResponse) }
        if status == 101 { return .fail(.switchedProtocols) }
        current.informationalResponses += 1
        guard current.informationalResponses <= informationalLimit else {
            return .fail(.tooManyInformationalResponses)
        }
        let sendsBody = status == 100 && current.request == .awaitingContinue
        if sendsBody { current.request = .sendingBody }
        exchange = current
        return sendsBody ? .forwardAndSendBody : .forward
    }

    /// The final response's head is there. A server that refuses before it has read the body will not read the rest;
    /// one that accepts may still want it (RFC 9112, 9.5).
    mutating func receivedHead(status: Int, keepsAlive: Bool) -> HeadAction {
        guard var current = exchange, current.response == .awaitingHead else { return .fail(.unexpectedResponse) }
        current.response = .body
        current.mayReuse = current.mayReuse && keepsAlive
        let abandons =
            current.request == .awaitingContinue || (current.request == .sendingBody && status >= 300)
        if abandons {
            current.request = .abandoned
            current.mayReuse = false
        }
        exchange = current
        return abandons ? .deliverAndAbandonBody : .deliver
    }

    /// The response's last byte is there; after a surplus, which nobody asked for, nothing more can be trusted.
    mutating func receivedEnd(hasSurplus: Bool = false) -> EndAction {
        guard let current = exchange, current.response == .body else { return .fail(.unexpectedResponse) }
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
