internal import NIOCore

/// Counts frames that cost the client more than the server (RFC 9113, 10.5). Pure: the time is a parameter.
struct HTTP2FrameCounts {
    /// A limit on the number of events in a period.
    private struct Rate {
        let most: Int
        private var count = 0
        private var end = NIODeadline.distantPast

        init(_ most: Int) {
            self.most = most
        }

        /// Counts an event. Returns false if that exceeds the limit.
        mutating func add(_ now: NIODeadline, _ span: TimeAmount) -> Bool {
            if now >= end { (count, end) = (0, now + span) }
            count += 1
            return count <= most
        }
    }

    /// The number of HEADERS (including informational ones and trailers) and RST_STREAM that a server may have sent on
    /// a stream before it learns that the stream is closed.
    private static let stragglersOfAStream = 16

    private let limits: HTTP2Options.Limits
    private let span: TimeAmount
    private var controlFrames: Rate
    private var streamErrors: Rate
    /// The number of empty DATA frames that are free because as many had content.
    private var paidEmptyData = 0
    /// The number of frames that may still arrive for closed streams.
    private var paidStragglers = 0
    private var waitingAnswers = 0

    init(_ limits: HTTP2Options.Limits) {
        self.limits = limits
        // Longer than any connection lives; longer periods could overflow the clock.
        span = min(TimeAmount(limits.countingWindow), .hours(24 * 365))
        controlFrames = Rate(limits.controlFrames)
        streamErrors = Rate(limits.streamErrors)
    }

    mutating func addControlFrame(_ now: NIODeadline) throws(HTTP2ConnectionError) {
        guard controlFrames.add(now, span) else { throw .flood("PING, SETTINGS and other control frames") }
    }

    mutating func addStreamError(_ now: NIODeadline) throws(HTTP2ConnectionError) {
        guard streamErrors.add(now, span) else { throw .flood("malformed messages") }
    }

    /// Counts a DATA frame: an empty one is free for each earlier one with content, and counts as a control frame
    /// beyond that.
    mutating func addData(isEmpty: Bool, _ now: NIODeadline) throws(HTTP2ConnectionError) {
        if !isEmpty {
            paidEmptyData += 1
        } else if paidEmptyData > 0 {
            paidEmptyData -= 1
        } else {
            guard controlFrames.add(now, span) else { throw .flood("empty DATA") }
        }
    }

    /// Records a closed stream: the frames that the server sends before it learns of that are free.
    mutating func streamClosed() {
        paidStragglers += Self.stragglersOfAStream
    }

    /// Counts a frame on a closed stream: beyond the free ones it counts as a control frame.
    mutating func addStraggler(_ now: NIODeadline) throws(HTTP2ConnectionError) {
        if paidStragglers > 0 {
            paidStragglers -= 1
        } else {
            guard controlFrames.add(now, span) else { throw .flood("frames on closed streams") }
        }
    }

    /// Counts a queued answer; accepted ones no longer count.
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
