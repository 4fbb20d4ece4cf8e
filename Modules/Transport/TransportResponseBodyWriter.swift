package import NIOCore

/// Writes a streamed response's body from outside a connection; for stubs.
package struct TransportResponseBodyWriter: Sendable {
    private let channel: ResponseBodyChannel

    /// Makes a body, and what writes it. `resumed` is called when the reader wants more after `write` has returned false,
    /// `abandoned` when it leaves before the end.
    package static func makeBody(
        resumed: @escaping @Sendable () -> Void = {}, abandoned: @escaping @Sendable (TransportError) -> Void = { _ in }
    ) -> (TransportResponseBody, TransportResponseBodyWriter) {
        let channel = ResponseBodyChannel(resumeReading: resumed, abandonExchange: abandoned)
        return (
            TransportResponseBody(.stream(ResponseBodyReader(channel))), TransportResponseBodyWriter(channel: channel)
        )
    }

    /// Hands over bytes; false when there should be no more until the reader asks.
    @discardableResult
    package func write(_ bytes: ByteBuffer) -> Bool {
        channel.push(bytes)
    }

    /// Ends the body.
    package func finish(_ metrics: TransportMetrics = TransportMetrics()) {
        channel.finish(.success(TransportResponseBody.Completion(trailers: nil, metrics: metrics)))
    }

    /// Breaks the body off.
    package func fail(_ error: TransportError) {
        channel.finish(.failure(error))
    }
}
