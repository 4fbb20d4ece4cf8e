internal import NIOCore

/// One exchange on its stream; touched on the connection's event loop only.
final class HTTP2Stream {
    let id: Int
    let exchange: HTTPExchange
    var machine: HTTP2StreamStateMachine
    /// The frames that have just come have something for it, which is done when all of them are read.
    var isTouched = false
    /// Bytes of a streamed body that have just come.
    var arrived: [ByteBuffer] = []
    /// Until when the server has to make room for the stream; nil once it has been opened.
    var roomDue: NIODeadline?
    /// Bytes of the request's body that are on their way to the socket.
    var unsent = 0
    /// Tells the body's pump that the socket has taken its chunk, or that no more is wanted.
    var chunkTaken: (@Sendable (Bool) -> Void)?
    /// How large the window is that the server was last given.
    var window: Int
    /// What the window has beyond its first size.
    var share: HTTP2WindowShare?

    init(id: Int, exchange: HTTPExchange, machine: HTTP2StreamStateMachine, window: Int) {
        self.id = id
        self.exchange = exchange
        self.machine = machine
        self.window = window
    }

    /// When to look after it again.
    var due: NIODeadline? {
        guard let roomDue else { return exchange.deadlines.next }
        return min(roomDue, exchange.deadlines.next ?? roomDue)
    }

    /// No more of the request's body is wanted.
    func dropBody() {
        chunkTaken.take()?(false)
    }
}
