internal import NIOCore

/// The connection's end of an exchange: what a body's pump and a body's reader ask of it, on its event loop.
protocol ExchangeHost: AnyObject, SendableMetatype {
    /// Writes a chunk of a streamed body; `done` hears when the socket has taken it, and false when nobody wants the
    /// rest.
    func sendChunk(_ chunk: ByteBuffer, of exchange: HTTPExchange, _ done: @escaping @Sendable (Bool) -> Void)

    /// The streamed body is at its end, or cannot be produced.
    func endBody(of exchange: HTTPExchange, _ error: TransportError?)

    /// The reader of a streamed body has room again.
    func resumeReading(_ exchange: HTTPExchange)

    /// Ends an exchange that its caller has given up.
    func cancel(_ exchange: HTTPExchange, _ error: TransportError)
}
