/// What one stream may do next (RFC 9113, 8.1): a request and its response, each with an end of its own. Pure: each event
/// returns what to do.
struct HTTP2StreamStateMachine {
    /// How far the request is.
    enum RequestPhase: Equatable {
        /// The head is out, the body waits for `100 Continue`.
        case awaitingContinue
        case sendingBody
        /// The rest of the body will not be sent.
        case abandoned
        case complete
    }

    enum ResponsePhase: Equatable {
        case awaitingHead
        case body
        /// The last byte is there; the request's is not out.
        case complete
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
    }

    enum EndAction: Equatable {
        case complete
        /// The response is complete, and the rest of the request is not wanted: the stream is to be reset.
        case completeAndReset
        /// The server has answered before it has read the request to its end, and lets the client go on (RFC 9113, 8.1): the
        /// exchange is over with the request's last byte.
        case hold
        case fail(Failure)
    }

    enum Failure: Equatable {
        case switchedProtocols
        case endedWithoutResponse
        case tooManyInformationalResponses
        /// The body has not the length that the head says (RFC 9113, 8.1.1).
        case wrongLength
        case bodyWithoutPlace
    }

    private(set) var request: RequestPhase
    private(set) var response = ResponsePhase.awaitingHead
    /// What informational responses may still cost.
    private var informationalBytes: Int
    /// Bytes of the body that are still to come; nil where nobody has said.
    private var bytesLeft: Int64?
    private var hasBody = true

    init(hasBody: Bool, expectsContinue: Bool, informationalBytes: Int) {
        request = !hasBody ? .complete : expectsContinue ? .awaitingContinue : .sendingBody
        self.informationalBytes = informationalBytes
    }

    /// The wait for `100 Continue` is over; true when the body is to be sent now.
    mutating func continueTimedOut() -> Bool {
        guard request == .awaitingContinue else { return false }
        request = .sendingBody
        return true
    }

    /// The socket has taken the request's last byte; true when the exchange is over with it.
    mutating func requestBodyEnded() -> Bool {
        guard request == .sendingBody else { return false }
        request = .complete
        return response == .complete
    }

    /// An informational response of so many bytes is there.
    mutating func receivedInformational(status: Int, bytes: Int, isEnd: Bool) -> InformationalAction {
        if isEnd { return .fail(.endedWithoutResponse) }
        // HTTP/2 has none (RFC 9113, 8.6).
        if status == 101 { return .fail(.switchedProtocols) }
        informationalBytes -= bytes + TransportConfiguration.ResponseLimits.informationalCost
        guard informationalBytes >= 0 else { return .fail(.tooManyInformationalResponses) }
        guard status == 100, request == .awaitingContinue else { return .forward }
        request = .sendingBody
        return .forwardAndSendBody
    }

    /// The final response's head is there. A server that refuses before it has read the body will not read the rest; one
    /// that accepts may be reading on.
    mutating func receivedHead(status: Int, contentLength: Int64? = nil, hasBody: Bool = true) -> HeadAction {
        response = .body
        self.hasBody = hasBody
        bytesLeft = hasBody ? contentLength : 0
        guard request == .awaitingContinue || (request == .sendingBody && !EarlyResponse.wantsBody(status: status))
        else { return .deliver }
        request = .abandoned
        return .deliverAndAbandonBody
    }

    /// Bytes of the body came; what is wrong with that.
    mutating func received(_ count: Int) -> Failure? {
        guard let left = bytesLeft else { return nil }
        bytesLeft = left - Int64(count)
        return count <= left ? nil : hasBody ? .wrongLength : .bodyWithoutPlace
    }

    /// The response's last byte is there.
    mutating func receivedEnd() -> EndAction {
        guard response == .body else { return .fail(.endedWithoutResponse) }
        guard bytesLeft ?? 0 == 0 else { return .fail(.wrongLength) }
        switch request {
        case .complete: return .complete
        case .awaitingContinue, .abandoned: return .completeAndReset
        case .sendingBody:
            response = .complete
            return .hold
        }
    }
}
