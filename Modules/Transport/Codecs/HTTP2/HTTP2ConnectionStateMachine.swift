internal import NIOCore

/// Whether a connection accepts another stream, and its number (RFC 9113, 5.1.1, 5.1.2 and 6.8). Pure.
struct HTTP2ConnectionStateMachine {
    /// The number of streams that a server is assumed to allow, the least that RFC 9113, 6.5.2 recommends.
    static let assumedConcurrentStreams = 100

    private var nextID: Int
    private var peerLimit: Int
    private var isDraining = false
    private(set) var isClosed = false

    /// `firstID` is odd, since streams with even numbers are the server's. `streams` is the number of streams that the
    /// server is assumed to allow.
    init(firstID: Int = 1, streams: Int = assumedConcurrentStreams) {
        nextID = firstID
        peerLimit = streams
    }

    /// The number of concurrent streams for new requests.
    var capacity: Int { takesStreams ? peerLimit : 0 }

    var takesStreams: Bool { !isDraining && !isClosed && nextID <= Int(Int32.max) }

    /// The next stream number; nil if there are no more.
    mutating func open() -> Int? {
        guard takesStreams else { return nil }
        defer { nextID += 2 }
        return nextID
    }

    /// Sets the server's limit. Returns true if it changed.
    mutating func receivedLimit(_ limit: Int) -> Bool {
        guard limit != peerLimit else { return false }
        peerLimit = limit
        return takesStreams
    }

    /// Stops accepting streams. Returns true if that is a change.
    mutating func drain() -> Bool {
        guard !isDraining, !isClosed else { return false }
        isDraining = true
        return true
    }

    /// Whether the connection has finished its last stream.
    func isDone(streams: Int) -> Bool { !takesStreams && !isClosed && streams == 0 }

    /// Returns true for the first call.
    mutating func close() -> Bool {
        defer { isClosed = true }
        return !isClosed
    }
}

/// Decides when to send a PING to a silent server and when to give it up. Pure: the time is a parameter.
struct HTTP2KeepAlive {
    enum Action: Equatable {
        case none
        case ping
        case giveUp
    }

    private let interval: TimeAmount?
    private let timeout: TimeAmount
    private var lastSign = NIODeadline.distantPast
    private var answerDue: NIODeadline?

    init(_ options: TransportConfiguration.HTTP2) {
        interval = options.keepAlivePing.map { TimeAmount($0) }
        timeout = TimeAmount(options.pingTimeout)
    }

    /// Records bytes from the server. Returns whether they answer a PING: the next one may be due before the timer that
    /// waited for the answer.
    @discardableResult
    mutating func heard(_ now: NIODeadline) -> Bool {
        lastSign = now
        defer { answerDue = nil }
        return answerDue != nil
    }

    /// A server without requests does not have to send anything, so the silence is measured from the first stream.
    mutating func firstStreamOpened(_ now: NIODeadline) {
        if answerDue == nil { lastSign = now }
    }

    /// Requests a PING now. Returns false if one is pending.
    mutating func probe(_ now: NIODeadline) -> Bool {
        guard answerDue == nil else { return false }
        answerDue = now + timeout
        return true
    }

    /// Whether the server has sent nothing for a second, although a response is due.
    func isSilent(_ now: NIODeadline) -> Bool { now >= lastSign + .seconds(1) }

    /// When to check again.
    func next(hasStreams: Bool) -> NIODeadline? {
        if let answerDue { return answerDue }
        guard hasStreams, let interval else { return nil }
        return lastSign + interval
    }

    mutating func check(_ now: NIODeadline, hasStreams: Bool) -> Action {
        if let answerDue { return answerDue <= now ? .giveUp : .none }
        guard let due = next(hasStreams: hasStreams), due <= now else { return .none }
        answerDue = now + timeout
        return .ping
    }
}
