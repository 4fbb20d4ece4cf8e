internal import NIOCore

/// Frames that wait to be written. Small things go into one piece of memory, which serves one flush after another; large
/// payloads stay where they are.
struct HTTP2Outbox {
    struct Piece {
        let bytes: ByteBuffer
        let promise: EventLoopPromise<Void>?
    }

    /// Payloads up to this are copied.
    private static let mostCopied = 2048
    /// What a connection keeps to write in.
    private static let mostKept = 65_536

    private var pieces: [Piece] = []
    private var tail = ByteBuffer()
    /// What `tail` holds has been taken.
    private var isTaken = false
    private var promises: [EventLoopPromise<Void>] = []

    var isEmpty: Bool { pieces.isEmpty && (isTaken || tail.readableBytes == 0) }

    /// Where frames are written to.
    var buffer: ByteBuffer {
        get { isTaken ? ByteBuffer() : tail }
        _modify {
            if isTaken {
                if tail.capacity > Self.mostKept { tail = ByteBuffer() } else { tail.clear() }
                isTaken = false
            }
            yield &tail
        }
    }

    /// Writes a payload behind its header; the promise hears when the socket has it.
    mutating func write(payload: ByteBuffer, _ promise: EventLoopPromise<Void>?) {
        guard payload.readableBytes > Self.mostCopied else {
            buffer.writeImmutableBuffer(payload)
            if let promise { promises.append(promise) }
            return
        }
        closeTail()
        tail = ByteBuffer()
        pieces.append(Piece(bytes: payload, promise: promise))
    }

    /// Hands over all that waits, in its order.
    mutating func take() -> [Piece] {
        closeTail()
        isTaken = true
        defer { pieces = [] }
        return pieces
    }

    private mutating func closeTail() {
        guard !isTaken, tail.readableBytes > 0 else { return }
        // One write keeps all promises of what it holds.
        for promise in promises.dropFirst() { promises[0].futureResult.cascade(to: promise) }
        pieces.append(Piece(bytes: tail, promise: promises.first))
        promises.removeAll(keepingCapacity: true)
    }
}
