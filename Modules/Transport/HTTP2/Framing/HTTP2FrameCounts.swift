internal import NIOCore

/// Counts what costs us more than it costs a server (RFC 9113, 10.5). Pure: the time is a parameter.
struct HTTP2FrameCounts {
    /// So many in each span of time.
    private struct Rate {
        let most: Int
        private var count = 0
        private var end = NIODeadline.distantPast

        init(_ most: Int) {
            self.most = most
        }

        /// Counts one more; false when it is one too many.
        mutating func add(_ now: NIODeadline, _ span: TimeAmount) -> Bool {
            if now >= end { (count, end) = (0, now + span) }
            count += 1
            return count <= most
        }
    }

    /// HEADERS, among them informational ones and trailers, and RST_STREAM that a server may have sent on a stream before it
    /// hears that the stream is closed.
    private static let stragglersOfAStream = 16

    private let limits: HTTP2Options.Limits
    private let span: TimeAmount
    private var controlFrames: Rate
    private var streamErrors: Rate
    /// Empty DATA frames that are paid for by as many that carried something.
    private var paidEmptyData = 0
    /// Frames that may still come for streams that have closed.
    private var paidStragglers = 0
    private var waitingAnswers = 0

    init(_ limits: HTTP2Options.Limits) {
        self.limits = limits
        // A time that no connection lives; longer ones could not be added to the clock.
        span = min(TimeAmount(limits.countingWindow), .hours(24 * 365))
        controlFrames = Rate(limits.controlFrames)
        streamErrors = Rate(limits.streamErrors)
    }

    mutating func addControlFrame(_ now: NIODeadline) throws(HTTP2ConnectionError) {
        guard controlFrames.add(now, span) else { throw .flood("PING, SETTINGS and others that carry nothing") }
    }

    mutating func addStreamError(_ now: NIODeadline) throws(HTTP2ConnectionError) {
        guard streamErrors.add(now, span) else { throw .flood("messages that break the rules") }
    }

    /// Counts a DATA frame: an empty one is free for each that carried something before, and a control frame beyond.
    mutating func addData(isEmpty: Bool, _ now: NIODeadline) throws(HTTP2ConnectionError) {
        if !isEmpty {
            paidEmptyData += 1
        } else if paidEmptyData > 0 {
            paidEmptyData -= 1
        } else {
            guard controlFrames.add(now, span) else { throw .flood("DATA without a byte") }
        }
    }

    /// A stream has closed: what the server sends before it knows of that costs us as much as it would have otherwise.
    mutating func streamClosed() {
        paidStragglers += Self.stragglersOfAStream
    }

    /// Counts a frame on a closed stream: one that belongs to no request beyond those that are paid for is a control frame.
    mutating func addStraggler(_ now: NIODeadline) throws(HTTP2ConnectionError) {
        if paidStragglers > 0 {
            paidStragglers -= 1
        } else {
            guard controlFrames.add(now, span) else { throw .flood("frames on closed streams") }
        }
    }

    /// An answer that we owe; what the server has taken counts no more.
    mutating func addAnswer() throws(HTTP2ConnectionError) {
        waitingAnswers += 1
        guard waitingAnswers <= limits.waitingControlFrames else {
            throw .flood("frames whose answers it does not read")
        }
    }

    mutating func answersWereTaken() {
        waitingAnswers = 0
    }
}
