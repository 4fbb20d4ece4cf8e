internal import NIOCore

/// One exchange on its stream; touched on the connection's event loop only.
final class HTTP2Stream {
    let id: Int
    let exchange: HTTPExchange
    var machine: HTTP2StreamStateMachine
    /// The frames that have just come have something for it, which is done when all of them are read.
    var isTouched = false

    init(id: Int, exchange: HTTPExchange, machine: HTTP2StreamStateMachine) {
        self.id = id
        self.exchange = exchange
        self.machine = machine
    }

    /// The server has its time to say the next word, unless nobody would listen.
    func armReadDeadline() {
        if machine.awaitsServer && !exchange.isReadPaused { exchange.armReadDeadline() }
    }
}
