internal import NIOCore
internal import Synchronization

/// A stream and its exchange; accessed on the connection's event loop only.
final class HTTP2Stream {
    let id: Int
    let exchange: HTTPExchange
    var machine: HTTP2StreamStateMachine
    /// Whether frames that were just read concern the stream, which is updated after all of them.
    var isTouched = false
    /// The deadline for the server to allow the stream; nil once it is open.
    var roomDue: NIODeadline?
    /// The bytes of the request body that the socket has not accepted yet.
    var unsent = 0
    /// Reports to the body's producer that the socket has accepted its chunk, or that no more is wanted.
    var chunkTaken: (@Sendable (Bool) -> Void)?
    /// The size of the window last announced to the server.
    var window: Int
    /// The share of the budget that the window uses beyond its initial size.
    var share: HTTP2WindowShare?

    init(id: Int, exchange: HTTPExchange, machine: HTTP2StreamStateMachine, window: Int) {
        self.id = id
        self.exchange = exchange
        self.machine = machine
        self.window = window
    }

    /// When the stream has to be checked again.
    var due: NIODeadline? {
        guard let roomDue else { return exchange.deadlines.next }
        return min(roomDue, exchange.deadlines.next ?? roomDue)
    }

    /// Drops the rest of the request body.
    func dropBody() {
        chunkTaken.take()?(false)
    }
}

/// The state of a stream (RFC 9113, 8.1): a request and a response that end independently. Pure: each event returns an
/// action.
struct HTTP2StreamStateMachine {
    /// The progress of the request.
    enum RequestPhase: Equatable {
        /// The head was sent; the body waits for `100 Continue`.
        case awaitingContinue
        case sendingBody
        /// The rest of the body is not sent.
        case abandoned
        case complete
    }

    enum ResponsePhase: Equatable {
        case awaitingHead
        case body
        /// The response is complete; the request is not.
        case complete
    }

    enum InformationalAction: Equatable {
        case forward
        case forwardAndSendBody
        case fail(Failure)
    }

    enum HeadAction: Equatable {
        case deliver
        /// Deliver the response and stop sending the body.
        case deliverAndAbandonBody
    }

    enum EndAction: Equatable {
        case complete
        /// The response is complete and the rest of the request is not wanted: reset the stream.
        case completeAndReset
        /// The server answered before it read the whole request and accepts the rest (RFC 9113, 8.1): the exchange ends
        /// with the request's last byte.
        case hold
        case fail(Failure)
    }

    enum Failure: Equatable {
        case switchedProtocols
        case endedWithoutResponse
        case tooManyInformationalResponses
        /// The length of the body differs from the head's Content-Length (RFC 9113, 8.1.1).
        case wrongLength
        case bodyWithoutPlace
    }

    private(set) var request: RequestPhase
    private(set) var response = ResponsePhase.awaitingHead
    /// The remaining bytes for informational responses.
    private var informationalBytes: Int
    /// The remaining bytes of the body; nil if its length is unknown.
    private var bytesLeft: Int64?
    private var hasBody = true

    init(hasBody: Bool, expectsContinue: Bool, informationalBytes: Int) {
        request = !hasBody ? .complete : expectsContinue ? .awaitingContinue : .sendingBody
        self.informationalBytes = informationalBytes
    }

    /// The wait for `100 Continue` has ended. Returns true if the body must be sent now.
    mutating func continueTimedOut() -> Bool {
        guard request == .awaitingContinue else { return false }
        request = .sendingBody
        return true
    }

    /// The socket has accepted the request's last byte. Returns true if the exchange ends with it.
    mutating func requestBodyEnded() -> Bool {
        guard request == .sendingBody else { return false }
        request = .complete
        return response == .complete
    }

    /// An informational response has arrived.
    mutating func receivedInformational(status: Int, bytes: Int, isEnd: Bool) -> InformationalAction {
        if isEnd { return .fail(.endedWithoutResponse) }
        // HTTP/2 has no protocol switch (RFC 9113, 8.6).
        if status == 101 { return .fail(.switchedProtocols) }
        informationalBytes -= bytes + TransportConfiguration.ResponseLimits.informationalCost
        guard informationalBytes >= 0 else { return .fail(.tooManyInformationalResponses) }
        guard status == 100, request == .awaitingContinue else { return .forward }
        request = .sendingBody
        return .forwardAndSendBody
    }

    /// Handles the head of the final response. A server that refuses the request before the end of its body does not
    /// read the rest; a server that accepts it may still be reading.
    mutating func receivedHead(status: Int, contentLength: Int64? = nil, hasBody: Bool = true) -> HeadAction {
        response = .body
        self.hasBody = hasBody
        bytesLeft = hasBody ? contentLength : 0
        guard request == .awaitingContinue || (request == .sendingBody && !EarlyResponse.wantsBody(status: status))
        else { return .deliver }
        request = .abandoned
        return .deliverAndAbandonBody
    }

    /// Bytes of the body have arrived. Returns the failure, if any.
    mutating func received(_ count: Int) -> Failure? {
        guard let left = bytesLeft else { return nil }
        bytesLeft = left - Int64(count)
        return count <= left ? nil : hasBody ? .wrongLength : .bodyWithoutPlace
    }

    /// The response is complete.
    mutating func receivedEnd() -> EndAction {
        guard response == .body else { return .fail(.endedWithoutResponse) }
        guard bytesLeft ?? 0 == 0 else { return .fail(.wrongLength) }
        switch request {
        case .complete: return .complete
        // The server is told that no more of the request comes, since it counts the stream as open (RFC 9113, 8.1).
        case .awaitingContinue, .abandoned: return .completeAndReset
        case .sendingBody:
            response = .complete
            return .hold
        }
    }
}

/// The number of bytes that the windows of several responses may have together beyond their initial size.
///
/// Each connection has one, and a transport has one for all its connections. Shares are taken on event loops, and
/// returned on any thread when the last bytes of a body are read or dropped.
final class HTTP2WindowBudget: Sendable {
    /// The budget of a transport, in connections.
    static let connectionsOfATransport = 4

    private let limit: Int
    private let parent: HTTP2WindowBudget?
    private let used = Atomic(0)

    init(limit: Int, parent: HTTP2WindowBudget? = nil) {
        self.limit = limit
        self.parent = parent
    }

    /// Creates the budget of a transport.
    convenience init(ofTransport options: TransportConfiguration.HTTP2) {
        self.init(limit: options.connectionWindowSize * Self.connectionsOfATransport)
    }

    var free: Int { max(0, min(limit - used.load(ordering: .relaxed), parent?.free ?? .max)) }

    /// Takes bytes. Returns false if fewer are left.
    fileprivate func take(_ count: Int) -> Bool {
        // Taken before it is checked, so that two event loops cannot both have the last bytes.
        let taken = used.add(count, ordering: .relaxed).newValue
        if taken <= limit, parent?.take(count) ?? true { return true }
        used.subtract(count, ordering: .relaxed)
        return false
    }

    fileprivate func giveBack(_ count: Int) {
        used.subtract(count, ordering: .relaxed)
        parent?.giveBack(count)
    }
}

/// The share of a response in a budget, until its last reference is released: by the stream, and by the channel in
/// which bytes wait for their reader.
final class HTTP2WindowShare: Sendable {
    private let budget: HTTP2WindowBudget
    private let amount = Atomic(0)

    init(of budget: HTTP2WindowBudget) {
        self.budget = budget
    }

    deinit {
        budget.giveBack(amount.load(ordering: .relaxed))
    }

    /// Sets the share to half of the unused budget and itself, up to a limit. Called on one event loop only. Repeated
    /// calls make shares equal.
    func resize(upTo most: Int) -> Int {
        let now = amount.load(ordering: .relaxed)
        let wanted = min(most, (now + budget.free) / 2)
        if wanted <= now {
            budget.giveBack(now - wanted)
        } else if !budget.take(wanted - now) {
            return now
        }
        amount.store(wanted, ordering: .relaxed)
        return wanted
    }
}
