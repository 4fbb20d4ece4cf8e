internal import HTTPTypes
internal import NIOCore

/// The client side of HTTP/2 framing (RFC 9113, 3 to 6): frames, field blocks, stream states, flow control. Pure.
///
/// Received bytes are added with ``append(_:_:)``, events are returned by ``next()``. Requests are added with
/// ``open(_:_:isEnd:)`` and similar methods, and the bytes to send are returned by ``takePieces()``. It buffers at most
/// an unfinished frame or field block of received bytes, and both are limited.
struct HTTP2Framing {
    enum Event {
        case head(stream: Int, HTTP2FieldSection, isEnd: Bool)
        case data(stream: Int, ByteBuffer, isEnd: Bool)
        /// The server reset the stream.
        case reset(stream: Int, HTTP2ErrorCode)
        /// The stream had a protocol error and was reset.
        case broken(stream: Int, HTTP2StreamError)
        /// The server accepts no more streams. Streams above the last one are removed; the listed ones were not sent.
        case goAway(last: Int, HTTP2ErrorCode, unsent: [Int])
        /// ``peer`` has changed.
        case settings
        /// The server widened the connection window.
        case widened
        /// The server has read more of a request that was sent to its end.
        case read(stream: Int)
    }

    /// An incomplete DATA frame.
    struct DataInProgress {
        let stream: Int
        var payloadLeft: Int
        var paddingLeft: Int
        /// Whether the end of the stream has yet to be reported.
        var owesEnd: Bool
        /// Whether the payload is discarded.
        let isDropped: Bool

        var isOver: Bool { payloadLeft == 0 && paddingLeft == 0 && !owesEnd }
    }

    /// A field block that continues in CONTINUATION frames.
    struct BlockInProgress {
        let stream: Int
        let isEnd: Bool
        var bytes: ByteBuffer
        /// The bytes that count against the limit, including a surcharge for each frame.
        var cost: Int
    }

    private enum Step {
        case event(Event)
        case goOn
        case needsBytes
    }

    let options: TransportConfiguration.HTTP2
    /// The maximum size of a field section, encoded and decoded (RFC 9113, 6.5.2).
    let maximumListSize: Int
    /// The initial receive window of a stream.
    let firstWindow: Int
    var peer = HTTP2PeerSettings()
    var streams = HTTP2StreamTable<HTTP2FramedStream>()
    /// The first stream; nil before it is opened.
    var firstStream: Int?
    /// The highest stream so far. Lower ones that are not in `streams` are closed (RFC 9113, 5.1.1).
    var highestStream = 0
    /// The connection windows for receiving and sending.
    var (receiveWindow, sendWindow) = (65_535, 65_535)
    var outbox = HTTP2Outbox()
    /// Streams with something to send, in turn.
    var senders = CircularBuffer<Int>(initialCapacity: 4)
    /// Streams that wait for room on the server, including those abandoned meanwhile.
    var waiting = CircularBuffer<Int>(initialCapacity: 4)
    var waitingCount = 0
    /// Waiting streams that were opened since the last ``takeOpened()``.
    var opened: [Int] = []
    var encoder = HTTP2FieldEncoder()
    var decoder: HTTP2FieldDecoder
    var counts: HTTP2FrameCounts
    var now = NIODeadline.now()
    var data: DataInProgress?
    var block: BlockInProgress?
    private(set) var input = ByteBuffer()
    private var frame: HTTP2FrameHeader?
    private var hasSettings = false
    var hasReadSettings = false
    /// Whether the server has acknowledged our SETTINGS (RFC 9113, 6.5.3).
    var isAcknowledged = false
    /// Whether the server accepts no new streams.
    var isGoingAway = false
    private(set) var hasFailed = false

    init(_ configuration: TransportConfiguration) {
        options = configuration.http2
        maximumListSize = configuration.limits.headerListSize
        firstWindow = options.firstWindowSize
        decoder = HTTP2FieldDecoder(maximumListSize: maximumListSize)
        counts = HTTP2FrameCounts(options.limits)
    }

    mutating func append(_ bytes: ByteBuffer, _ now: NIODeadline) {
        self.now = now
        guard !hasFailed else { return }
        input.appendUnread(bytes)
    }

    /// Frees memory that is not in use.
    mutating func rest() {
        outbox.rest()
    }

    /// The next event; nil if more bytes are needed. After an error, for which GOAWAY is queued, there are no further
    /// events.
    mutating func next() throws(HTTP2ConnectionError) -> Event? {
        guard !hasFailed else { return nil }
        do {
            while true {
                switch try step() {
                case .event(let event): return event
                case .goOn: continue
                case .needsBytes:
                    // Releases the memory of processed bytes.
                    if input.readableBytes == 0 { input = ByteBuffer() }
                    return nil
                }
            }
        } catch {
            hasFailed = true
            input = ByteBuffer()
            goAway(error.code)
            throw error
        }
    }

    private mutating func step() throws(HTTP2ConnectionError) -> Step {
        if let data { return nextOfData(data) }
        guard let frame = try nextHeader() else { return .needsBytes }
        // DATA is passed on as it arrives; other frames are small, and of use as a whole only.
        guard frame.type == .data else {
            guard var payload = input.readSlice(length: frame.length) else { return .needsBytes }
            self.frame = nil
            return try received(frame, &payload).map { .event($0) } ?? .goOn
        }
        guard let padding = try Self.paddingLength(frame, &input) else { return .needsBytes }
        self.frame = nil
        return try beginData(frame, padding: padding).map { .event($0) } ?? .goOn
    }

    private mutating func nextHeader() throws(HTTP2ConnectionError) -> HTTP2FrameHeader? {
        if let frame { return frame }
        guard let frame = input.readFrameHeader() else { return nil }
        guard frame.length <= options.maximumFrameSize else {
            throw .rule(.frameSizeError, "a frame of \(frame.length) bytes")
        }
        if !hasSettings {
            // The first frame of the server (RFC 9113, 3.4).
            guard frame.type == .settings, !frame.flags.contains(.ack) else {
                throw .rule("bytes that do not begin with SETTINGS")
            }
            hasSettings = true
        }
        if let block, frame.type != .continuation || frame.stream != block.stream {
            throw .rule("a frame within a field block")
        }
        self.frame = frame
        return frame
    }

    /// The next piece of DATA.
    private mutating func nextOfData(_ before: DataInProgress) -> Step {
        var data = before
        defer { self.data = data.isOver ? nil : data }
        guard data.payloadLeft > 0 || data.owesEnd else {
            let padding = min(data.paddingLeft, input.readableBytes)
            input.moveReaderIndex(forwardBy: padding)
            data.paddingLeft -= padding
            return data.isOver ? .goOn : .needsBytes
        }
        guard data.payloadLeft == 0 || input.readableBytes > 0,
            let bytes = input.readSlice(length: min(data.payloadLeft, input.readableBytes))
        else { return .needsBytes }
        data.payloadLeft -= bytes.readableBytes
        let isEnd = data.owesEnd && data.payloadLeft == 0
        if isEnd { data.owesEnd = false }
        return data.isDropped ? .goOn : .event(.data(stream: data.stream, bytes, isEnd: isEnd))
    }
}

/// The framing state of a stream (RFC 9113, 5.1 and 5.2).
struct HTTP2FramedStream {
    /// Bytes of a body that wait for the windows.
    struct Outgoing {
        var bytes: ByteBuffer
        let isEnd: Bool
    }

    var receiveWindow: Int
    var sendWindow: Int
    /// The sent bytes of the body for which the server has not widened the window.
    var unread = 0
    /// Whether the final head has arrived; the next section is trailers.
    var hasFinalHead = false
    var isRemoteEnded = false
    var isLocalEnded = false
    /// The request head while the stream waits for room on the server.
    var waitingHead: (lines: [HTTP2FieldEncoder.Line], isEnd: Bool)?
    var outgoing: [Outgoing] = []
    var isSending = false
}

/// The streams that are not closed, sorted by number. Numbers only grow and streams are few, so binary search is faster
/// than hashing.
struct HTTP2StreamTable<Value> {
    private(set) var numbers: [Int] = []
    private var values: [Value] = []

    var count: Int { numbers.count }

    /// The index of a stream, valid until a stream is added or removed.
    func index(of number: Int) -> Int? {
        var (low, high) = (0, numbers.count)
        while low < high {
            let middle = (low + high) / 2
            if numbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < numbers.count && numbers[low] == number ? low : nil
    }

    subscript(index: Int) -> Value {
        get { values[index] }
        _modify { yield &values[index] }
    }

    /// Adds a stream whose number is above all others.
    mutating func append(_ number: Int, _ value: Value) {
        numbers.append(number)
        values.append(value)
    }

    @discardableResult
    mutating func remove(at index: Int) -> Value {
        numbers.remove(at: index)
        return values.remove(at: index)
    }
}

extension TransportConfiguration.ResponseLimits {
    /// The announced maximum size of a field list. It is larger than `headBytes`: a head between the two can be decoded
    /// and fails only its stream, while a larger one ends the connection.
    var headerListSize: Int {
        let (sum, overflow) = headBytes.addingReportingOverflow(64 * 1024)
        return overflow ? Int(Int32.max) : min(sum, Int(Int32.max))
    }
}
