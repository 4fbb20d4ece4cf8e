internal import HTTPTypes
internal import NIOCore

/// Frames of all types but DATA, whole (RFC 9113, 6).
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
        case .pushPromise: throw .rule("PUSH_PROMISE, which was forbidden")
        case .data: break
        case nil: try counts.addControlFrame(now)
        }
        return nil
    }

    // MARK: Fields

    /// What a CONTINUATION frame counts beside its bytes, so that empty ones come to an end.
    private static let continuationCost = 64

    private mutating func receivedHeaders(
        _ frame: HTTP2FrameHeader, _ payload: inout ByteBuffer
    ) throws(HTTP2ConnectionError) -> Event? {
        try checkStream(frame)
        let padding = frame.flags.contains(.padded) ? payload.readInteger(as: UInt8.self).map { Int($0) } : 0
        guard let padding else { throw .rule(.frameSizeError, "HEADERS without their padding's length") }
        if frame.flags.contains(.priority) {
            guard payload.readSlice(length: 5) != nil else {
                throw .rule(.frameSizeError, "HEADERS without their priority")
            }
        }
        guard padding <= payload.readableBytes,
            let fragment = payload.readSlice(length: payload.readableBytes - padding)
        else { throw .rule("padding of more than the frame") }
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
        guard var block else { throw .rule("CONTINUATION of nothing") }
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

    /// A whole field block. It is decoded whatever the stream's state, since it changes the tables.
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
            try counts.addStraggler(now)
            return nil
        }
        guard !streams[index].isRemoteEnded else {
            return try broken(stream, HTTP2StreamError(code: .streamClosed, rule: "HEADERS behind the end"))
        }
        if let flaw = section.flaw ?? streams[index].flaw(of: section, isEnd: isEnd) {
            return try broken(stream, HTTP2StreamError(rule: flaw.rawValue))
        }
        if section.status.map({ $0 >= 200 }) ?? false { streams[index].hasFinalHead = true }
        if isEnd { remoteEnded(index, stream) }
        return .head(stream: stream, section, isEnd: isEnd)
    }

    // MARK: Single streams

    private mutating func receivedReset(
        _ frame: HTTP2FrameHeader, _ payload: inout ByteBuffer
    ) throws(HTTP2ConnectionError) -> Event? {
        try checkStream(frame)
        guard frame.length == 4, let code: UInt32 = payload.readInteger() else {
            throw .rule(.frameSizeError, "RST_STREAM of \(frame.length) bytes")
        }
        // One that ends a stream costs the server a request of ours; only the others need a limit.
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
        let increment = Int(word & 0x7FFF_FFFF)
        guard frame.stream != 0 else {
            guard increment > 0 else { throw .rule("WINDOW_UPDATE by nothing") }
            guard sendWindow + increment <= HTTP2PeerSettings.largestWindow else {
                throw .rule(.flowControlError, "a window beyond all measure")
            }
            sendWindow += increment
            return .widened
        }
        guard let index = try openStream(frame.stream, "WINDOW_UPDATE") else { return nil }
        // We have sent all: there is nothing that a window could hold back.
        guard !streams[index].isLocalEnded else { return nil }
        guard increment > 0 else {
            return try broken(frame.stream, HTTP2StreamError(rule: "WINDOW_UPDATE by nothing"))
        }
        guard streams[index].sendWindow + increment <= HTTP2PeerSettings.largestWindow else {
            return try broken(
                frame.stream, HTTP2StreamError(code: .flowControlError, rule: "a window beyond all measure"))
        }
        streams[index].sendWindow += increment
        queueSender(index, frame.stream)
        return nil
    }

    /// Priorities mean nothing to a client, and may come for streams of any state (RFC 9113, 5.3.2 and 6.3).
    private mutating func receivedPriority(_ frame: HTTP2FrameHeader) throws(HTTP2ConnectionError) -> Event? {
        try counts.addControlFrame(now)
        guard frame.stream != 0 else { throw .rule("PRIORITY of the connection") }
        guard frame.length != 5 else { return nil }
        guard sentIndex(of: frame.stream) != nil else {
            throw .rule(.frameSizeError, "PRIORITY of \(frame.length) bytes")
        }
        return try broken(
            frame.stream, HTTP2StreamError(code: .frameSizeError, rule: "PRIORITY of \(frame.length) bytes"))
    }

    // MARK: The connection

    private mutating func receivedSettings(
        _ frame: HTTP2FrameHeader, _ payload: inout ByteBuffer
    ) throws(HTTP2ConnectionError) -> Event? {
        try counts.addControlFrame(now)
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
            // What another connection's server allowed is not what this one allows when it says nothing of it.
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
        try counts.addControlFrame(now)
        try checkConnection(frame)
        guard let (last, code) = payload.readMultipleIntegers(as: (UInt32, UInt32).self) else {
            throw .rule(.frameSizeError, "GOAWAY of \(frame.length) bytes")
        }
        let lastStream = Int(last & 0x7FFF_FFFF)
        isGoingAway = true
        let unsent = streams.numbers.filter { sentIndex(of: $0) == nil }
        for number in streams.numbers where number > lastStream || unsent.contains(number) {
            guard let index = streams.index(of: number) else { continue }
            // The server has not seen it or does not want to: there is nothing to reset.
            remove(index, number)
        }
        return .goAway(last: lastStream, HTTP2ErrorCode(rawValue: code), unsent: unsent)
    }

    // MARK: States

    /// Resets a stream on which the server broke a rule; more than a few of those end the connection.
    mutating func broken(_ stream: Int, _ error: HTTP2StreamError) throws(HTTP2ConnectionError) -> Event? {
        reset(stream, error.code)
        try counts.addStreamError(now)
        return .broken(stream: stream, error)
    }

    /// Where a stream is on which something came; nil for one that is closed. What comes there is discarded, however many
    /// streams were closed before: the server may have sent it before it knew (RFC 9113, 5.1).
    func openStream(_ stream: Int, _ what: String) throws(HTTP2ConnectionError) -> Int? {
        if let index = sentIndex(of: stream) { return index }
        guard !stream.isMultiple(of: 2), stream <= highestStream, streams.index(of: stream) == nil else {
            throw .rule("\(what) on a stream that was not opened")
        }
        return nil
    }

    /// Where a stream is whose head has gone out.
    private func sentIndex(of stream: Int) -> Int? {
        streams.index(of: stream).flatMap { streams[$0].waitingHead == nil ? $0 : nil }
    }

    func checkStream(_ frame: HTTP2FrameHeader) throws(HTTP2ConnectionError) {
        guard frame.stream != 0 else { throw .rule("a stream's frame on the connection") }
    }

    private func checkConnection(_ frame: HTTP2FrameHeader) throws(HTTP2ConnectionError) {
        guard frame.stream == 0 else { throw .rule("the connection's frame on a stream") }
    }
}

extension HTTP2FramedStream {
    /// What is wrong with a section in this place.
    fileprivate func flaw(of section: HTTP2FieldSection, isEnd: Bool) -> HTTP2MalformedField? {
        guard hasFinalHead else { return section.status == nil ? .noStatus : nil }
        if section.status != nil { return .trailersWithStatus }
        return isEnd ? nil : .trailersWithoutEnd
    }
}
