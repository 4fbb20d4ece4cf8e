/// Decides which streams of a connection are served, and when the connection is closed.
struct HTTP2StreamMachine {
    /// How a stream is handled.
    enum Verdict: Equatable {
        /// It is served as the request with this number, counted from 0.
        case served(Int)
        case refused
        case ignored
    }

    private let limit: Int
    private let options: MockServer.Configuration.HTTP2
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

    /// Whether all requests were answered.
    var isIdle: Bool { unanswered.isEmpty }

    /// Whether the last allowed request has arrived and GOAWAY was not sent yet.
    var isGoAwayDue: Bool { served >= limit && lastStreamID == nil }

    /// Whether GOAWAY was sent and all served streams have closed.
    var isDone: Bool { lastStreamID != nil && open.isEmpty }

    /// Decides how a new stream is handled. Streams arrive in the order of their numbers.
    mutating func arrive(_ id: Int) -> Verdict {
        defer { arrived += 1 }
        if lastStreamID != nil { return options.refusesLateStreams ? .refused : .ignored }
        if options.refusedStreams.contains(arrived) { return .refused }
        served += 1
        highest = id
        unanswered.insert(id)
        open.insert(id)
        return .served(arrived)
    }

    /// Returns the last stream for GOAWAY; nil when it was sent before.
    mutating func goAway() -> Int? {
        guard lastStreamID == nil else { return nil }
        lastStreamID = highest
        return highest
    }

    /// Called when the response on a stream was sent.
    mutating func answered(_ id: Int) {
        unanswered.remove(id)
    }

    /// Called when a stream has ended on both sides.
    mutating func closed(_ id: Int) {
        unanswered.remove(id)
        open.remove(id)
    }
}
