internal import HTTPTypes
internal import NIOCore

/// DATA from the server, and the windows that hold it back (RFC 9113, 5.2 and 6.1).
extension HTTP2Framing {
    /// How many bytes of a DATA frame are its padding; nil when more bytes are needed to know.
    static func paddingLength(
        _ frame: HTTP2FrameHeader, _ input: inout ByteBuffer
    ) throws(HTTP2ConnectionError) -> Int? {
        guard frame.flags.contains(.padded) else { return 0 }
        guard frame.length > 0 else { throw .rule(.frameSizeError, "DATA without their padding's length") }
        guard let length: UInt8 = input.readInteger() else { return nil }
        guard Int(length) < frame.length else { throw .rule("padding of more than the frame") }
        return Int(length)
    }

    /// Begins with a DATA frame, whose bytes are counted at once, its padding included.
    mutating func beginData(_ frame: HTTP2FrameHeader, padding: Int) throws(HTTP2ConnectionError) -> Event? {
        try checkStream(frame)
        receiveWindow -= frame.length
        guard receiveWindow >= 0 else { throw .rule(.flowControlError, "more than the connection's window") }
        creditConnection()
        let isEnd = frame.flags.contains(.endStream)
        let payload = frame.length - padding - (frame.flags.contains(.padded) ? 1 : 0)
        try counts.addData(isEmpty: payload == 0 && !isEnd, now)
        let index = try openStream(frame.stream, "DATA")
        if let index { streams[index].receiveWindow -= frame.length }
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

    /// What the server may still send on a stream; nil when it will send nothing more.
    func receiveWindow(of stream: Int) -> Int? {
        guard let index = streams.index(of: stream), !streams[index].isRemoteEnded else { return nil }
        return streams[index].receiveWindow
    }

    /// Lets the server send so much on a stream.
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
    /// What is wrong with DATA on it.
    fileprivate var dataError: HTTP2StreamError? {
        if isRemoteEnded { return HTTP2StreamError(code: .streamClosed, rule: "DATA behind the end") }
        if !hasFinalHead { return HTTP2StreamError(rule: "a body before its head") }
        if receiveWindow < 0 { return HTTP2StreamError(code: .flowControlError, rule: "more than the stream's window") }
        return nil
    }
}
