internal import HTTPTypes
internal import NIOCore

/// Sending.
extension HTTP2Framing {
    private static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    /// The maximum DATA frame size, whatever the server allows, so that streams take turns and a slow connection shows
    /// progress.
    private static let largestData = 16_384

    /// Writes the connection preface (RFC 9113, 3.4).
    mutating func begin() {
        outbox.buffer.writeString(Self.preface)
        outbox.buffer.writeSettings([
            (2, 0), (4, firstWindow), (5, options.maximumFrameSize), (6, maximumListSize),
        ])
        let credit = options.connectionWindowSize - receiveWindow
        if credit > 0 { writeWindowUpdate(0, credit) }
        receiveWindow = max(receiveWindow, options.connectionWindowSize)
    }

    // MARK: Streams

    /// Opens a stream whose number is above all others, now or when the server has room for it, as ``takeOpened()``
    /// reports. Returns whether it is open.
    @discardableResult
    mutating func open(_ stream: Int, _ head: [HTTP2FieldEncoder.Line], isEnd: Bool) -> Bool {
        firstStream = firstStream ?? stream
        highestStream = max(highestStream, stream)
        var new = HTTP2FramedStream(receiveWindow: firstWindow, sendWindow: peer.initialWindowSize)
        counts.sent()
        let hasRoom = waitingCount == 0 && streams.count < peer.maximumConcurrentStreams
        if !hasRoom {
            new.waitingHead = (head, isEnd)
            waiting.append(stream)
            waitingCount += 1
        }
        new.isLocalEnded = isEnd && hasRoom
        streams.append(stream, new)
        if hasRoom { writeHead(stream, head, isEnd: isEnd) }
        return hasRoom
    }

    /// Opens waiting streams while there is room.
    mutating func openWaiting() {
        while waitingCount > 0, !isGoingAway, streams.count - waitingCount < peer.maximumConcurrentStreams,
            let stream = waiting.popFirst()
        {
            guard let index = streams.index(of: stream), let (head, isEnd) = streams[index].waitingHead else {
                continue
            }
            waitingCount -= 1
            streams[index].waitingHead = nil
            streams[index].isLocalEnded = isEnd
            writeHead(stream, head, isEnd: isEnd)
            queueSender(index, stream)
            opened.append(stream)
        }
    }

    /// The waiting streams that were opened since the last call.
    mutating func takeOpened() -> [Int] {
        guard !opened.isEmpty else { return [] }
        defer { opened = [] }
        return opened
    }

    /// Writes HEADERS, and CONTINUATION for the rest (RFC 9113, 6.2 and 6.10).
    private mutating func writeHead(_ stream: Int, _ head: [HTTP2FieldEncoder.Line], isEnd: Bool) {
        let most = peer.maximumFrameSize
        let flags: HTTP2FrameFlags = isEnd ? .endStream : []
        let start = outbox.buffer.writerIndex
        // The length is set afterwards, so that the block is encoded in its place and not copied.
        outbox.buffer.writeFrameHeader(.headers, flags: flags.union(.endHeaders), stream: stream, length: 0)
        encoder.encode(head, into: &outbox.buffer)
        let length = outbox.buffer.writerIndex - start - HTTP2FrameHeader.size
        guard length > most else {
            outbox.buffer.setInteger(UInt16(length >> 8), at: start)
            outbox.buffer.setInteger(UInt8(truncatingIfNeeded: length), at: start + 2)
            return
        }
        // Rare: the block is removed and split.
        let block = outbox.buffer.getSlice(at: start + HTTP2FrameHeader.size, length: length) ?? ByteBuffer()
        outbox.buffer.moveWriterIndex(to: start)
        Self.writeCut(block, stream: stream, flags: flags, atMost: most, into: &outbox.buffer)
    }

    private static func writeCut(
        _ block: ByteBuffer, stream: Int, flags: HTTP2FrameFlags, atMost most: Int, into buffer: inout ByteBuffer
    ) {
        var (block, type, flags) = (block, HTTP2FrameType.headers, flags)
        while block.readableBytes > 0 {
            let part = block.readSlice(length: min(most, block.readableBytes)) ?? ByteBuffer()
            if block.readableBytes == 0 { flags.insert(.endHeaders) }
            buffer.writeFrameHeader(type, flags: flags, stream: stream, length: part.readableBytes)
            buffer.writeImmutableBuffer(part)
            (type, flags) = (.continuation, [])
        }
    }

    /// Resets a stream unless it is closed. One with a malformed response is reset also if both sides have just ended
    /// it (RFC 9113, 5.4.2 and 8.1.1).
    mutating func reset(_ stream: Int, _ code: HTTP2ErrorCode, isMalformed: Bool = false) {
        guard let index = streams.index(of: stream) else {
            if isMalformed { writeReset(stream, code) }
            return
        }
        // Written before the stream that takes its place, since the server counts open streams.
        if streams[index].waitingHead == nil { writeReset(stream, code) }
        remove(index, stream)
    }

    private mutating func writeReset(_ stream: Int, _ code: HTTP2ErrorCode) {
        outbox.buffer.writeFrameHeader(.resetStream, stream: stream, length: 4)
        outbox.buffer.writeInteger(code.rawValue)
    }

    /// Removes a closed stream.
    mutating func remove(_ index: Int, _ stream: Int) {
        let old = streams.remove(at: index)
        if old.waitingHead != nil { waitingCount -= 1 } else { counts.streamClosed(window: old.receiveWindow) }
        openWaiting()
    }

    mutating func remoteEnded(_ index: Int, _ stream: Int) {
        streams[index].isRemoteEnded = true
        if streams[index].isLocalEnded { remove(index, stream) }
    }

    // MARK: Bodies

    /// Queues bytes of a body until the windows allow them; the pieces of ``takePieces(room:)`` report how many they
    /// carry.
    mutating func send(_ stream: Int, _ bytes: ByteBuffer, isEnd: Bool) {
        guard let index = streams.index(of: stream), !streams[index].isLocalEnded else { return }
        streams[index].outgoing.append(HTTP2FramedStream.Outgoing(bytes: bytes, isEnd: isEnd))
        queueSender(index, stream)
    }

    /// Drops the unsent body of a stream, which stays open.
    mutating func dropBody(_ stream: Int) {
        guard let index = streams.index(of: stream) else { return }
        streams[index].outgoing = []
    }

    /// Whether bytes of a body wait for the connection's window or the socket.
    var hasSenders: Bool { !senders.isEmpty }

    /// Whether a body waits for the window of its stream.
    func isHeldBack(_ stream: Int) -> Bool {
        guard let index = streams.index(of: stream), streams[index].waitingHead == nil,
            let first = streams[index].outgoing.first
        else { return false }
        return first.bytes.readableBytes > 0 && streams[index].sendWindow <= 0
    }

    mutating func queueSender(_ index: Int, _ stream: Int) {
        guard !streams[index].isSending, streams[index].canSend else { return }
        streams[index].isSending = true
        senders.append(stream)
    }

    /// Writes DATA as far as the windows allow, one frame per stream in turn, until there is no room left.
    private mutating func sendData(room: Int) {
        var blocked = 0
        let before = outbox.carriedBytes
        while blocked < senders.count, outbox.carriedBytes - before < room, let stream = senders.popFirst() {
            guard let index = streams.index(of: stream) else { continue }
            guard streams[index].canSend else {
                streams[index].isSending = false
                continue
            }
            if sendFrame(index, stream) {
                blocked = 0
            } else {
                // The connection window is exhausted.
                blocked += 1
            }
            if streams.index(of: stream) != nil { senders.append(stream) }
        }
    }

    /// Writes one frame of a stream. Returns false if the connection window is exhausted.
    private mutating func sendFrame(_ index: Int, _ stream: Int) -> Bool {
        var first = streams[index].outgoing[0]
        let room = min(sendWindow, streams[index].sendWindow, peer.maximumFrameSize, Self.largestData)
        let length = min(first.bytes.readableBytes, max(0, room))
        // An empty frame needs no window (RFC 9113, 6.9.1).
        guard length > 0 || first.bytes.readableBytes == 0 else { return false }
        let payload = first.bytes.readSlice(length: length) ?? ByteBuffer()
        let isLast = first.bytes.readableBytes == 0
        let isEnd = first.isEnd && isLast
        sendWindow -= length
        streams[index].sendWindow -= length
        streams[index].unread += length
        counts.sent(body: length)
        outbox.buffer.writeFrameHeader(.data, flags: isEnd ? .endStream : [], stream: stream, length: length)
        outbox.write(payload: payload, of: stream, isEnd: isEnd)
        guard isLast else {
            streams[index].outgoing[0] = first
            return true
        }
        streams[index].outgoing.removeFirst()
        guard isEnd else { return true }
        streams[index].isLocalEnded = true
        if streams[index].isRemoteEnded { remove(index, stream) }
        return true
    }

    /// Applies a change of the initial window size (RFC 9113, 6.9.2).
    mutating func changeSendWindows(by difference: Int) throws(HTTP2ConnectionError) {
        guard difference != 0 else { return }
        for index in 0..<streams.count {
            // A window can become negative (RFC 9113, 6.9.2).
            streams[index].sendWindow += difference
            guard streams[index].sendWindow <= HTTP2PeerSettings.largestWindow else {
                throw .rule(.flowControlError, "a window that is too large")
            }
            queueSender(index, streams.numbers[index])
        }
    }

    // MARK: Connection

    mutating func ping() {
        outbox.buffer.writeFrameHeader(.ping, length: 8)
        outbox.buffer.writeInteger(UInt64(0))
    }

    /// The last stream of the server is 0, because push is disabled.
    mutating func goAway(_ code: HTTP2ErrorCode) {
        outbox.buffer.writeFrameHeader(.goAway, length: 8)
        outbox.buffer.writeMultipleIntegers(UInt32(0), code.rawValue)
    }

    /// Takes the bytes that can be written now; parts of bodies only up to the available room, plus the rest of a
    /// frame.
    mutating func takePieces(room: Int = .max) -> [HTTP2Outbox.Piece] {
        if !senders.isEmpty { sendData(room: room) }
        return outbox.take()
    }

    /// Drops all streams after the connection has ended.
    mutating func abandonAll() {
        streams = HTTP2StreamTable()
        _ = outbox.take()
        waitingCount = 0
        opened = []
    }
}

extension HTTP2FramedStream {
    /// Whether the stream has something to send that its own window allows.
    fileprivate var canSend: Bool {
        guard waitingHead == nil, let first = outgoing.first else { return false }
        return first.bytes.readableBytes == 0 || sendWindow > 0
    }
}
