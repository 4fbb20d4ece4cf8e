internal import HTTPTypes
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

        /// Counts an event by its weight. Returns false if that exceeds the limit.
        mutating func add(_ now: NIODeadline, _ span: TimeAmount, weight: Int = 1) -> Bool {
            if now >= end { (count, end) = (0, now + span) }
            count += weight
            return count <= most
        }
    }

    /// The number of HEADERS (including informational ones and trailers) and RST_STREAM that a server may have sent on
    /// a stream before it learns that the stream is closed.
    private static let stragglersOfAStream = 16
    /// The number of bytes of a body for which a server may send a WINDOW_UPDATE, of the stream and of the connection.
    private static let bytesOfAnUpdate = 512
    /// The number of WINDOW_UPDATE frames that a server may send for each stream, in addition to the frames for a body.
    private static let updatesOfAStream = 4

    private let limits: TransportConfiguration.HTTP2.Limits
    private let span: TimeAmount
    private var controlFrames: Rate
    private var streamErrors: Rate
    /// The number of empty DATA frames that are free because as many had content.
    private var paidEmptyData = 0
    /// The number of frames that may still arrive for closed streams.
    private var paidStragglers = 0
    /// The number of bytes that may still arrive for closed streams.
    private var paidBytes = 0
    /// The number of WINDOW_UPDATE frames that are free.
    private var paidUpdates = 0
    private var waitingAnswers = 0

    init(_ limits: TransportConfiguration.HTTP2.Limits) {
        self.limits = limits
        // Longer than any connection lives; longer periods could overflow the clock.
        span = min(TimeAmount(limits.countingWindow), .hours(24 * 365))
        controlFrames = Rate(limits.controlFrames)
        streamErrors = Rate(limits.streamErrors)
    }

    /// Counts a control frame, plus one for each kilobyte of it.
    mutating func addControlFrame(_ now: NIODeadline, length: Int = 0) throws(HTTP2ConnectionError) {
        guard controlFrames.add(now, span, weight: 1 + length / 1_024) else {
            throw .flood("PING, SETTINGS and other control frames")
        }
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

    /// Records a closed stream: the frames that the server sends before it learns of that are free, with the DATA that
    /// the stream's window allows.
    mutating func streamClosed(window: Int) {
        paidStragglers += Self.stragglersOfAStream
        paidBytes += max(0, window)
    }

    /// Counts a frame on a closed stream: beyond the free ones it counts as a control frame, or as several by its size.
    mutating func addStraggler(_ now: NIODeadline, length: Int = 0) throws(HTTP2ConnectionError) {
        let weight = 1 + length / 1_024
        if paidStragglers >= weight {
            paidStragglers -= weight
        } else {
            guard controlFrames.add(now, span, weight: weight) else { throw .flood("frames on closed streams") }
        }
    }

    /// Counts DATA on a closed stream, because only the connection's window limits its bytes. An empty frame counts
    /// like others on closed streams.
    mutating func addLateData(payload: Int, length: Int, _ now: NIODeadline) throws(HTTP2ConnectionError) {
        if payload == 0 { try addStraggler(now) }
        paidBytes -= length
        guard paidBytes >= 0 else { throw .rule(.flowControlError, "DATA beyond the windows of closed streams") }
    }

    /// Records an opened stream, or sent bytes of a body: a server may widen windows for them.
    mutating func sent(body bytes: Int? = nil) {
        paidUpdates += bytes.map { 2 * (1 + $0 / Self.bytesOfAnUpdate) } ?? Self.updatesOfAStream
    }

    /// Counts a WINDOW_UPDATE: beyond the free ones it counts as a control frame.
    mutating func addUpdate(_ now: NIODeadline) throws(HTTP2ConnectionError) {
        if paidUpdates > 0 {
            paidUpdates -= 1
        } else {
            guard controlFrames.add(now, span) else { throw .flood("WINDOW_UPDATE") }
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
