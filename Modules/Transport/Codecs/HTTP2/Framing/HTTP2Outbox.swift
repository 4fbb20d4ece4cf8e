internal import NIOCore

/// Frames that wait to be written. They share a buffer, which is reused for each flush: separate TLS records, writes
/// and promises for a frame would cost more than copying it.
struct HTTP2Outbox {
    /// The part of a request body in a piece.
    struct Carried: Equatable {
        let stream: Int
        let count: Int
        /// Whether the request ends with it.
        let isEnd: Bool
    }

    struct Piece {
        let bytes: ByteBuffer
        let carried: [Carried]

        /// Bytes of bodies.
        var carriedBytes: Int { carried.reduce(0) { $0 + $1.count } }
    }

    /// A piece with this many bytes is complete, so that the socket's progress is seen. It is a little more than the
    /// default window of a stream (RFC 9113, 6.9.2), which many servers keep.
    private static let pieceBytes = 66_560
    /// The capacity of the buffer that a connection keeps until it rests: a piece and its last frame.
    private static let mostKept = 131_072

    private var pieces: [Piece] = []
    private var tail = ByteBuffer()
    /// Whether the content of `tail` has been taken.
    private var isTaken = false
    /// The parts of bodies in `tail`.
    private var carried: [Carried] = []
    /// The bytes of bodies in all waiting frames.
    private(set) var carriedBytes = 0

    var isEmpty: Bool { pieces.isEmpty && (isTaken || tail.readableBytes == 0) }

    /// The buffer that frames are written to.
    var buffer: ByteBuffer {
        get { isTaken ? ByteBuffer() : tail }
        _modify {
            if isTaken {
                // While the socket refers to the memory, clearing takes new memory.
                if tail.capacity > Self.mostKept { tail = ByteBuffer() } else { tail.clear() }
                isTaken = false
            }
            yield &tail
        }
    }

    /// Writes the payload of a DATA frame after its header.
    mutating func write(payload: ByteBuffer, of stream: Int, isEnd: Bool) {
        let part = Carried(stream: stream, count: payload.readableBytes, isEnd: isEnd)
        carriedBytes += part.count
        carried.append(part)
        buffer.writeImmutableBuffer(payload)
        guard tail.readableBytes >= Self.pieceBytes else { return }
        closeTail()
        tail = ByteBuffer()
    }

    /// Frees memory that is not in use.
    mutating func rest() {
        guard isEmpty else { return }
        tail = ByteBuffer()
        isTaken = false
    }

    /// Takes all waiting frames in order.
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
