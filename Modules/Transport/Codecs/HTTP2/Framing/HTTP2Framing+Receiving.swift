internal import HTTPTypes
internal import NIOCore

/// Receiving complete frames of all types except DATA (RFC 9113, 6).
extension HTTP2Framing {
    mutating func received(
        _ frame: HTTP2FrameHeader, _ payload: inout ByteBuffer
    ) throws(HTTP2ConnectionError) -> Event? {
        switch frame.type {
        case .headers: return try receivedHeaders(frame, &payload)
        case .continuation: return try receivedContinuation(frame, payload)
        case .resetStream: return try receivedReset(frame, &payload)
        case .settings: return try receivedSettings(frame, &payload)
        case .ping: try receivedPing(frame, payload)
        case .goAway: return try receivedGoAway(frame, &payload)
        case .windowUpdate: return try receivedWindowUpdate(frame, &payload)
        case .priority: return try receivedPriority(frame)
        case .pushPromise: throw .rule("PUSH_PROMISE, which is disabled")
        case .data: break
        case nil: try counts.addControlFrame(now, length: frame.length)
        }
        return nil
    }

    // MARK: Fields

    /// The bytes that a CONTINUATION frame counts in addition to its size, so that empty ones are limited.
    private static let continuationCost = 64

    private mutating func receivedHeaders(
        _ frame: HTTP2FrameHeader, _ payload: inout ByteBuffer
    ) throws(HTTP2ConnectionError) -> Event? {
        try checkStream(frame)
        let padding = frame.flags.contains(.padded) ? payload.readInteger(as: UInt8.self).map { Int($0) } : 0
        guard let padding else { throw .rule(.frameSizeError, "HEADERS without the padding length") }
        if frame.flags.contains(.priority) {
            guard payload.readSlice(length: 5) != nil else {
                throw .rule(.frameSizeError, "HEADERS without the priority")
            }
        }
        guard padding <= payload.readableBytes,
            let fragment = payload.readSlice(length: payload.readableBytes - padding)
        else { throw .rule("padding that exceeds the frame") }
        let isEnd = frame.flags.contains(.endStream)
        guard frame.flags.contains(.endHeaders) else {
            let cost = fragment.readableBytes
            guard cost <= maximumListSize else { throw .headTooLarge }
            block = BlockInProgress(stream: frame.stream, isEnd: isEnd, bytes: fragment, cost: cost)
            return nil
        }
        return try receivedBlock(fragment, frame.stream, isEnd: isEnd)
    }

    private mutating func receivedContinuation(
        _ frame: HTTP2FrameHeader, _ payload: ByteBuffer
    ) throws(HTTP2ConnectionError) -> Event? {
        guard var block else { throw .rule("CONTINUATION without HEADERS") }
        block.cost += payload.readableBytes + Self.continuationCost
        guard block.cost <= maximumListSize else { throw .headTooLarge }
        self.block = nil
        block.bytes.writeImmutableBuffer(payload)
        guard frame.flags.contains(.endHeaders) else {
            self.block = block
            return nil
        }
        return try receivedBlock(block.bytes, block.stream, isEnd: block.isEnd)
    }

    /// Processes a complete field block. It is decoded in every stream state, since it changes the tables.
    private mutating func receivedBlock(
        _ block: ByteBuffer, _ stream: Int, isEnd: Bool
    ) throws(HTTP2ConnectionError) -> Event? {
        let section: HTTP2FieldSection
        do {
            section = try block.withUnsafeReadableBytes { bytes throws(HPACKError) in try decoder.decode(bytes) }
        } catch {
            throw HTTP2ConnectionError(error)
        }
        guard let index = try openStream(stream, "HEADERS") else {
            try counts.addStraggler(now, length: block.readableBytes)
            return nil
        }
        guard !streams[index].isRemoteEnded else {
            return try broken(
                stream, HTTP2StreamError(code: .streamClosed, rule: "HEADERS after the end of the stream"))
        }
        if let flaw = section.flaw ?? streams[index].flaw(of: section, isEnd: isEnd) {
            return try broken(stream, HTTP2StreamError(rule: flaw.rawValue))
        }
        if section.status.map({ $0 >= 200 }) ?? false { streams[index].hasFinalHead = true }
        if isEnd { remoteEnded(index, stream) }
        return .head(stream: stream, section, isEnd: isEnd)
    }

    // MARK: Streams

    private mutating func receivedReset(
        _ frame: HTTP2FrameHeader, _ payload: inout ByteBuffer
    ) throws(HTTP2ConnectionError) -> Event? {
        try checkStream(frame)
        guard frame.length == 4, let code: UInt32 = payload.readInteger() else {
            throw .rule(.frameSizeError, "RST_STREAM of \(frame.length) bytes")
        }
        // A RST_STREAM that ends a stream costs a request, so only others need a limit.
        guard let index = try openStream(frame.stream, "RST_STREAM") else {
            try counts.addStraggler(now)
            return nil
        }
        remove(index, frame.stream)
        return .reset(stream: frame.stream, HTTP2ErrorCode(rawValue: code))
    }

    private mutating func receivedWindowUpdate(
        _ frame: HTTP2FrameHeader, _ payload: inout ByteBuffer
    ) throws(HTTP2ConnectionError) -> Event? {
        guard frame.length == 4, let word: UInt32 = payload.readInteger() else {
            throw .rule(.frameSizeError, "WINDOW_UPDATE of \(frame.length) bytes")
        }
        try counts.addUpdate(now)
        let increment = Int(word & 0x7FFF_FFFF)
        guard frame.stream != 0 else {
            guard increment > 0 else { throw .rule("WINDOW_UPDATE with an increment of 0") }
            guard sendWindow + increment <= HTTP2PeerSettings.largestWindow else {
                throw .rule(.flowControlError, "a window that is too large")
            }
            sendWindow += increment
            return .widened
        }
        guard let index = try openStream(frame.stream, "WINDOW_UPDATE") else { return nil }
        // The request is complete, so the window no longer matters, but the frame shows that the server has read more
        // of it.
        guard !streams[index].isLocalEnded else {
            guard increment > 0, streams[index].unread > 0 else { return nil }
            streams[index].unread -= increment
            return .read(stream: frame.stream)
        }
        guard increment > 0 else {
            return try broken(frame.stream, HTTP2StreamError(rule: "WINDOW_UPDATE with an increment of 0"))
        }
        guard streams[index].sendWindow + increment <= HTTP2PeerSettings.largestWindow else {
            return try broken(
                frame.stream, HTTP2StreamError(code: .flowControlError, rule: "a window that is too large"))
        }
        streams[index].sendWindow += increment
        streams[index].unread -= increment
        queueSender(index, frame.stream)
        return nil
    }

    /// Priorities have no effect on a client, and may arrive for streams in any state (RFC 9113, 5.3.2 and 6.3).
    private mutating func receivedPriority(_ frame: HTTP2FrameHeader) throws(HTTP2ConnectionError) -> Event? {
        try counts.addControlFrame(now)
        guard frame.stream != 0 else { throw .rule("PRIORITY on stream 0") }
        guard frame.length != 5 else { return nil }
        guard sentIndex(of: frame.stream) != nil else {
            throw .rule(.frameSizeError, "PRIORITY of \(frame.length) bytes")
        }
        return try broken(
            frame.stream, HTTP2StreamError(code: .frameSizeError, rule: "PRIORITY of \(frame.length) bytes"))
    }

    // MARK: Connection

    private mutating func receivedSettings(
        _ frame: HTTP2FrameHeader, _ payload: inout ByteBuffer
    ) throws(HTTP2ConnectionError) -> Event? {
        try counts.addControlFrame(now, length: frame.length)
        try checkConnection(frame)
        let isAnswer = frame.flags.contains(.ack)
        guard isAnswer ? frame.length == 0 : frame.length % 6 == 0 else {
            throw .rule(.frameSizeError, "SETTINGS of \(frame.length) bytes")
        }
        guard !isAnswer else {
            isAcknowledged = true
            return nil
        }
        let before = peer
        if !hasReadSettings {
            // The limit assumed from another connection does not apply if this server does not set one.
            peer.maximumConcurrentStreams = HTTP2ConnectionStateMachine.assumedConcurrentStreams
            hasReadSettings = true
        }
        try peer.read(&payload)
        try changeSendWindows(by: peer.initialWindowSize - before.initialWindowSize)
        encoder.allow(peer.headerTableSize)
        try counts.addAnswer()
        outbox.buffer.writeFrameHeader(.settings, flags: .ack, length: 0)
        openWaiting()
        return .settings
    }

    private mutating func receivedPing(
        _ frame: HTTP2FrameHeader, _ payload: ByteBuffer
    ) throws(HTTP2ConnectionError) {
        try counts.addControlFrame(now)
        try checkConnection(frame)
        guard frame.length == 8 else { throw .rule(.frameSizeError, "PING of \(frame.length) bytes") }
        guard !frame.flags.contains(.ack) else { return }
        try counts.addAnswer()
        outbox.buffer.writeFrameHeader(.ping, flags: .ack, length: 8)
        outbox.buffer.writeImmutableBuffer(payload)
    }

    private mutating func receivedGoAway(
        _ frame: HTTP2FrameHeader, _ payload: inout ByteBuffer
    ) throws(HTTP2ConnectionError) -> Event? {
        try counts.addControlFrame(now, length: frame.length)
        try checkConnection(frame)
        guard let (last, code) = payload.readMultipleIntegers(as: (UInt32, UInt32).self) else {
            throw .rule(.frameSizeError, "GOAWAY of \(frame.length) bytes")
        }
        let lastStream = Int(last & 0x7FFF_FFFF)
        isGoingAway = true
        let unsent = streams.numbers.filter { sentIndex(of: $0) == nil }
        for number in streams.numbers where number > lastStream || sentIndex(of: number) == nil {
            guard let index = streams.index(of: number) else { continue }
            // The server has not seen the stream or does not process it, so a reset is unnecessary.
            remove(index, number)
        }
        return .goAway(last: lastStream, HTTP2ErrorCode(rawValue: code), unsent: unsent)
    }

    // MARK: Stream states

    /// Resets a stream with a protocol error; too many of them end the connection.
    mutating func broken(_ stream: Int, _ error: HTTP2StreamError) throws(HTTP2ConnectionError) -> Event? {
        reset(stream, error.code)
        try counts.addStreamError(now)
        return .broken(stream: stream, error)
    }

    /// The index of a stream for a received frame; nil if the stream is closed. Frames on closed streams are discarded:
    /// the server may have sent them before it knew (RFC 9113, 5.1).
    func openStream(_ stream: Int, _ what: String) throws(HTTP2ConnectionError) -> Int? {
        if let index = sentIndex(of: stream) { return index }
        guard !stream.isMultiple(of: 2), stream <= highestStream, streams.index(of: stream) == nil else {
            throw .rule("\(what) on a stream that is not open")
        }
        return nil
    }

    /// The index of a stream with a sent head.
    private func sentIndex(of stream: Int) -> Int? {
        streams.index(of: stream).flatMap { streams[$0].waitingHead == nil ? $0 : nil }
    }

    func checkStream(_ frame: HTTP2FrameHeader) throws(HTTP2ConnectionError) {
        guard frame.stream != 0 else { throw .rule("a stream frame on stream 0") }
    }

    private func checkConnection(_ frame: HTTP2FrameHeader) throws(HTTP2ConnectionError) {
        guard frame.stream == 0 else { throw .rule("a connection frame on a stream") }
    }
}

extension HTTP2FramedStream {
    /// The flaw of a field section in the stream's state, if any.
    fileprivate func flaw(of section: HTTP2FieldSection, isEnd: Bool) -> HTTP2MalformedField? {
        guard hasFinalHead else { return section.status == nil ? .noStatus : nil }
        if section.status != nil { return .trailersWithStatus }
        return isEnd ? nil : .trailersWithoutEnd
    }
}

/// Receiving DATA, and its flow control (RFC 9113, 5.2 and 6.1).
extension HTTP2Framing {
    /// The padding length of a DATA frame; nil if more bytes are needed to know it.
    static func paddingLength(
        _ frame: HTTP2FrameHeader, _ input: inout ByteBuffer
    ) throws(HTTP2ConnectionError) -> Int? {
        guard frame.flags.contains(.padded) else { return 0 }
        guard frame.length > 0 else { throw .rule(.frameSizeError, "DATA without the padding length") }
        guard let length: UInt8 = input.readInteger() else { return nil }
        guard Int(length) < frame.length else { throw .rule("padding that exceeds the frame") }
        return Int(length)
    }

    /// Starts a DATA frame, whose bytes, including padding, count immediately.
    mutating func beginData(_ frame: HTTP2FrameHeader, padding: Int) throws(HTTP2ConnectionError) -> Event? {
        try checkStream(frame)
        receiveWindow -= frame.length
        guard receiveWindow >= 0 else { throw .rule(.flowControlError, "DATA beyond the connection window") }
        // At once, whether or not the body is read: streams have windows of their own, and a slow reader must not stop
        // the others.
        creditConnection()
        let isEnd = frame.flags.contains(.endStream)
        let payload = frame.length - padding - (frame.flags.contains(.padded) ? 1 : 0)
        let index = try openStream(frame.stream, "DATA")
        if let index {
            try counts.addData(isEmpty: payload == 0 && !isEnd, now)
            streams[index].receiveWindow -= frame.length
        } else {
            try counts.addLateData(payload: payload, length: frame.length, now)
        }
        let error = index.flatMap { streams[$0].dataError }
        let isDropped = index == nil || error != nil
        let new = DataInProgress(
            stream: frame.stream, payloadLeft: payload, paddingLeft: padding, owesEnd: isEnd && !isDropped,
            isDropped: isDropped)
        data = new.isOver ? nil : new
        if let error { return try broken(frame.stream, error) }
        if isEnd, let index { remoteEnded(index, frame.stream) }
        return nil
    }

    private mutating func creditConnection() {
        let target = options.connectionWindowSize
        guard receiveWindow <= target / 2 else { return }
        writeWindowUpdate(0, target - receiveWindow)
        receiveWindow = target
    }

    /// The receive window of a stream; nil if the server sends nothing more.
    func receiveWindow(of stream: Int) -> Int? {
        guard let index = streams.index(of: stream), !streams[index].isRemoteEnded else { return nil }
        return streams[index].receiveWindow
    }

    /// Widens the receive window of a stream.
    mutating func credit(_ stream: Int, upTo target: Int) {
        guard let index = streams.index(of: stream), !streams[index].isRemoteEnded,
            streams[index].receiveWindow < target
        else { return }
        writeWindowUpdate(stream, target - streams[index].receiveWindow)
        streams[index].receiveWindow = target
    }

    mutating func writeWindowUpdate(_ stream: Int, _ increment: Int) {
        outbox.buffer.writeFrameHeader(.windowUpdate, stream: stream, length: 4)
        outbox.buffer.writeInteger(UInt32(clamping: increment))
    }
}

extension HTTP2FramedStream {
    /// The error for DATA in the stream's state, if any.
    fileprivate var dataError: HTTP2StreamError? {
        if isRemoteEnded { return HTTP2StreamError(code: .streamClosed, rule: "DATA after the end of the stream") }
        if !hasFinalHead { return HTTP2StreamError(rule: "DATA before HEADERS") }
        if receiveWindow < 0 { return HTTP2StreamError(code: .flowControlError, rule: "DATA beyond the stream window") }
        return nil
    }
}
