internal import NIOCore
internal import NIOHTTP2

/// One exchange on its stream; touched on the connection's event loop only.
final class HTTP2Stream {
    let id: HTTP2StreamID
    let exchange: HTTPExchange
    var machine: HTTP2StreamStateMachine
    /// How much the server may still send, as it was last told.
    var inboundWindow: Int
    /// The frames that have just come have something for it, which is done when all of them are read.
    var isTouched = false

    init(id: HTTP2StreamID, exchange: HTTPExchange, machine: HTTP2StreamStateMachine, inboundWindow: Int) {
        self.id = id
        self.exchange = exchange
        self.machine = machine
        self.inboundWindow = inboundWindow
    }

    /// The server has its time to say the next word, unless nobody would listen.
    func armReadDeadline() {
        if machine.awaitsServer && !exchange.isReadPaused { exchange.armReadDeadline() }
    }
}
