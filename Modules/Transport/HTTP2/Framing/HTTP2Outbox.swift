internal import NIOCore

/// Frames that wait to be written. Small ones share one buffer, which is reused for each flush; large payloads are not
/// copied.
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

    /// Payloads up to this are copied.
    private static let mostCopied = 2048
    /// The capacity of the buffer that a connection keeps.
    private static let mostKept = 65_536

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
        guard payload.readableBytes > Self.mostCopied else {
            buffer.writeImmutableBuffer(payload)
            return carried.append(part)
        }
        closeTail()
        tail = ByteBuffer()
        pieces.append(Piece(bytes: payload, carried: [part]))
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
