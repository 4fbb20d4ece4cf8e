internal import NIOCore

/// Frames that wait to be written. Small things go into one piece of memory, which serves one flush after another; large
/// payloads stay where they are.
struct HTTP2Outbox {
    /// What a piece holds of a stream's body.
    struct Carried: Equatable {
        let stream: Int
        let count: Int
        /// With it, the request is out.
        let isEnd: Bool
    }

    struct Piece {
        let bytes: ByteBuffer
        let carried: [Carried]

        /// Bytes of bodies.
        var carriedBytes: Int { carried.reduce(0) { $0 + $1.count } }
    }

    /// Payloads up to this are copied.
    private static let mostCopied = 2048
    /// What a connection keeps to write in.
    private static let mostKept = 65_536

    private var pieces: [Piece] = []
    private var tail = ByteBuffer()
    /// What `tail` holds has been taken.
    private var isTaken = false
    /// What `tail` carries.
    private var carried: [Carried] = []
    /// Bytes of bodies among all that waits.
    private(set) var carriedBytes = 0

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

    /// Writes a part of a body behind its frame's header.
    mutating func write(payload: ByteBuffer, of stream: Int, isEnd: Bool) {
        let part = Carried(stream: stream, count: payload.readableBytes, isEnd: isEnd)
        carriedBytes += part.count
        guard payload.readableBytes > Self.mostCopied else {
            buffer.writeImmutableBuffer(payload)
            return carried.append(part)
        }
        closeTail()
        tail = ByteBuffer()
        pieces.append(Piece(bytes: payload, carried: [part]))
    }

    /// Hands over all that waits, in its order.
    mutating func take() -> [Piece] {
        closeTail()
        isTaken = true
        carriedBytes = 0
        defer { pieces = [] }
        return pieces
    }

    private mutating func closeTail() {
        guard !isTaken, tail.readableBytes > 0 else { return }
        pieces.append(Piece(bytes: tail, carried: carried))
        if !carried.isEmpty { carried = [] }
    }
}
