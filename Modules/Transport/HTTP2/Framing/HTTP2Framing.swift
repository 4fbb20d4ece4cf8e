internal import HTTPTypes
internal import NIOCore

/// A client's side of HTTP/2 on the wire (RFC 9113, 3 to 6): frames, field blocks, streams' states, windows. Pure.
///
/// Bytes go in by ``append(_:_:)``, events come out by ``next()``; what is to be sent goes in by ``open(_:_:isEnd:)`` and
/// the like, and comes out by ``takePieces()``. It keeps no more of what came than an unfinished frame or field block,
/// both of which are limited.
struct HTTP2Framing {
    enum Event {
        case head(stream: Int, HTTP2FieldSection, isEnd: Bool)
        case data(stream: Int, ByteBuffer, isEnd: Bool)
        /// The server has reset the stream.
        case reset(stream: Int, HTTP2ErrorCode)
        /// The server broke a rule on the stream, which is reset.
        case broken(stream: Int, HTTP2StreamError)
        /// The server takes no more streams; those above the last are forgotten, and those in the list were not even sent.
        case goAway(last: Int, HTTP2ErrorCode, unsent: [Int])
        /// ``peer`` has changed.
        case settings
        /// The server takes more of all bodies together.
        case widened
    }

    /// DATA whose payload comes in pieces.
    struct DataInProgress {
        let stream: Int
        var payloadLeft: Int
        var paddingLeft: Int
        /// That the stream ends is still to be told.
        var owesEnd: Bool
        /// Nobody wants it.
        let isDropped: Bool

        var isOver: Bool { payloadLeft == 0 && paddingLeft == 0 && !owesEnd }
    }

    /// A field block that goes on in CONTINUATION frames.
    struct BlockInProgress {
        let stream: Int
        let isEnd: Bool
        var bytes: ByteBuffer
        /// Bytes as they count against the limit: each frame counts for a few more than it carries.
        var cost: Int
    }

    private enum Step {
        case event(Event)
        case goOn
        case needsBytes
    }

    let options: HTTP2Options
    /// Bytes of a field section as it comes, and as it counts (RFC 9113, 6.5.2).
    let maximumListSize: Int
    /// What the server may send on a stream before it hears more.
    let firstWindow: Int
    var peer = HTTP2PeerSettings()
    var streams = HTTP2StreamTable<HTTP2FramedStream>()
    /// The highest stream there was. Those below it that are not among `streams` are closed (RFC 9113, 5.1.1).
    var highestStream = 0
    /// What the server may still send on all streams together, and what we may.
    var (receiveWindow, sendWindow) = (65_535, 65_535)
    var outbox = HTTP2Outbox()
    /// Streams that have something to send, in turn.
    var senders = CircularBuffer<Int>(initialCapacity: 4)
    /// Streams for which the server has no room yet, and those that were given up meanwhile.
    var waiting = CircularBuffer<Int>(initialCapacity: 4)
    var waitingCount = 0
    /// Streams that have waited, and were opened since it was last asked.
    var opened: [Int] = []
    var encoder = HTTP2FieldEncoder()
    var decoder: HTTP2FieldDecoder
    var counts: HTTP2FrameCounts
    var now = NIODeadline.now()
    var data: DataInProgress?
    var block: BlockInProgress?
    private var input = ByteBuffer()
    private var frame: HTTP2FrameHeader?
    private var hasSettings = false
    var hasReadSettings = false
    /// The server has acknowledged our SETTINGS (RFC 9113, 6.5.3).
    var isAcknowledged = false
    /// The server takes no new streams.
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
        if input.readableBytes == 0 { input = bytes } else { input.writeImmutableBuffer(bytes) }
    }

    /// The next event; nil when more bytes are needed. After an error, which the server is told of, nothing comes any more.
    mutating func next() throws(HTTP2ConnectionError) -> Event? {
        guard !hasFailed else { return nil }
        do {
            while true {
                switch try step() {
                case .event(let event): return event
                case .goOn: continue
                case .needsBytes:
                    // Keeps no memory of what was read.
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
            // The server's first word (RFC 9113, 3.4).
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

/// What the framing knows of a stream (RFC 9113, 5.1 and 5.2).
struct HTTP2FramedStream {
    /// Bytes of a body, which wait for the windows.
    struct Outgoing {
        var bytes: ByteBuffer
        let isEnd: Bool
    }

    var receiveWindow: Int
    var sendWindow: Int
    /// The response's head was there: what comes next are trailers.
    var hasFinalHead = false
    var isRemoteEnded = false
    var isLocalEnded = false
    /// The request's head, while the server has no room for the stream.
    var waitingHead: (lines: [HTTP2FieldEncoder.Line], isEnd: Bool)?
    var outgoing: [Outgoing] = []
    var isSending = false
}
