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

    private let limits: HTTP2Options.Limits
    private let span: TimeAmount
    private var resets: Rate
    private var controlFrames: Rate
    private var streamErrors: Rate
    private var emptyData = 0
    private var waitingAnswers = 0

    init(_ limits: HTTP2Options.Limits) {
        self.limits = limits
        // A time that no connection lives; longer ones could not be added to the clock.
        span = min(TimeAmount(limits.countingWindow), .hours(24 * 365))
        resets = Rate(limits.resets)
        controlFrames = Rate(limits.controlFrames)
        streamErrors = Rate(limits.streamErrors)
    }

    mutating func addReset(_ now: NIODeadline) throws(HTTP2ConnectionError) {
        guard resets.add(now, span) else { throw .flood("RST_STREAM") }
    }

    mutating func addControlFrame(_ now: NIODeadline) throws(HTTP2ConnectionError) {
        guard controlFrames.add(now, span) else { throw .flood("PING, SETTINGS and others that carry nothing") }
    }

    mutating func addStreamError(_ now: NIODeadline) throws(HTTP2ConnectionError) {
        guard streamErrors.add(now, span) else { throw .flood("messages that break the rules") }
    }

    mutating func addData(isEmpty: Bool) throws(HTTP2ConnectionError) {
        emptyData = isEmpty ? emptyData + 1 : 0
        guard emptyData <= limits.emptyDataFrames else { throw .flood("DATA without a byte") }
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
