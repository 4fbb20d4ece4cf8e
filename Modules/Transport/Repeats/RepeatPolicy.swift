internal import HTTPTypes

/// When a request is sent again on another connection without its caller's doing, and how long connections to an origin that
/// were of no use hold up the next one.
///
/// - What the server has certainly not processed is sent again up to ``mostRepeats`` times, whatever its method; up to
///   ``mostRepeatsBesideOthers`` times where the connections served other requests, as when a busy server retires each of its
///   connections after a few.
/// - What the server may have processed is sent again once, ever, and only where its method is idempotent (RFC 9110, 9.2.2) and
///   the connection had lain idle before the request (RFC 9112, 9.3.1).
/// - A body that was begun has to be one that can be produced again.
struct RepeatPolicy: Sendable {
    typealias Failure = TransportMetrics.Failure

    /// How often a request is sent again at most, and how often it is tried to open one connection again.
    var mostRepeats = 5
    /// How often a request is sent again at most after connections on which the server answered others.
    var mostRepeatsBesideOthers = 20
    /// Pauses begin with this one, and double.
    var firstPause = Duration.milliseconds(50)
    var longestPause = Duration.milliseconds(400)
    /// The part of a pause that is left to chance, from 0 to 1, so that many clients do not come back at once.
    var jitter = 0.5

    /// Whether a request that failed like this may be sent again at all.
    static func permits(_ failure: Failure, method: HTTPRequest.Method, isReplayable: Bool) -> Bool {
        switch failure {
        // Not a byte of its body was asked for.
        case .notConnected, .notSent: true
        case .notProcessed: isReplayable
        case .staleConnection: isReplayable && method.isIdempotent
        default: false
        }
    }

    /// Whether a request that is permitted to is sent again, given how its attempts failed, the last one included, and how many
    /// of them failed on connections on which the server answered others.
    func sendsAgain(after failures: some Collection<Failure>, besideOthers: Int = 0) -> Bool {
        // Opening a connection has a count of its own.
        let sent = failures.filter { $0 != .notConnected }
        return sent.count - besideOthers <= mostRepeats && besideOthers <= mostRepeatsBesideOthers
            && sent.count { $0 == .staleConnection } <= 1
    }

    /// Whether a connection is tried to open again, given how often that has failed.
    func opensAgain(afterFailures failures: Int) -> Bool { failures <= mostRepeats }

    /// How long to wait before a connection is opened, given how many before it, in a row, were of no use. The first one after
    /// such a connection is opened at once: a server that restarts is there again.
    func pause(afterUseless count: Int, using random: inout some RandomNumberGenerator) -> Duration {
        guard count > 1 else { return .zero }
        var pause = firstPause
        for _ in 2..<min(count, 64) where pause < longestPause { pause *= 2 }
        return min(pause, longestPause) * (1 - jitter * Double.random(in: 0...1, using: &random))
    }
}
