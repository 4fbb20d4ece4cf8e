/// Which of a connection's streams are served, and when the connection is done with.
struct HTTP2StreamMachine {
    /// What becomes of a stream.
    enum Verdict: Equatable {
        /// It is the request with this number, counted from 0.
        case served(Int)
        case refused
        case ignored
    }

    private let limit: Int
    private let options: MockServer.Configuration.HTTP2Options
    private var arrived = 0
    private var served = 0
    private var highest = 0
    private var unanswered: Set<Int> = []
    private var open: Set<Int> = []
    private var lastStreamID: Int?

    init(_ configuration: MockServer.Configuration) {
        options = configuration.http2
        limit = min(
            configuration.http2.goAway?.requests ?? .max, max(1, configuration.maximumRequestsPerConnection ?? .max))
    }

    /// Whether nothing waits for its answer.
    var isIdle: Bool { unanswered.isEmpty }

    /// Whether the last request that is allowed has arrived, and nobody has said so.
    var isGoAwayDue: Bool { served >= limit && lastStreamID == nil }

    /// Whether GOAWAY was sent, and what was served before it has ended.
    var isDone: Bool { lastStreamID != nil && open.isEmpty }

    /// Judges a stream; they come in the order of their numbers.
    mutating func arrive(_ id: Int) -> Verdict {
        defer { arrived += 1 }
        if lastStreamID != nil { return options.lateStreams == .refused ? .refused : .ignored }
        if options.refusedStreams.contains(arrived) { return .refused }
        served += 1
        highest = id
        unanswered.insert(id)
        open.insert(id)
        return .served(arrived)
    }

    /// Returns the last stream for the first GOAWAY; nil when one was sent before.
    mutating func goAway() -> Int? {
        guard lastStreamID == nil else { return nil }
        lastStreamID = highest
        return highest
    }

    /// The response to a request has left.
    mutating func answered(_ id: Int) {
        unanswered.remove(id)
    }

    /// A stream has ended on both sides.
    mutating func closed(_ id: Int) {
        unanswered.remove(id)
        open.remove(id)
    }
}
