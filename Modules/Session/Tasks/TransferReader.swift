internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

/// Reads the body of a response for a transfer that can be suspended, and reports how far it is.
///
/// A chunk counts as received once the next one is asked for: it was stored, written or handed over by then.
struct TransferReader {
    private var chunks: HTTPResponseBody.Iterator
    private let flight: Flight
    private let url: URL
    private var unreported = 0

    init(_ response: StreamedResponse, of flight: Flight) {
        chunks = response.body.makeAsyncIterator()
        self.flight = flight
        url = response.url
    }

    /// The next bytes; nil at the end.
    mutating func next() async throws(SessionError) -> Data? {
        try await proceed()
        let chunk = try await chunks.next()
        unreported = chunk?.count ?? 0
        return chunk
    }

    /// All bytes that are there; nil at the end.
    mutating func nextBatch() async throws(SessionError) -> CircularBuffer<ByteBuffer>? {
        try await proceed()
        let batch = try await chunks.nextBatch()
        unreported = batch?.reduce(0) { $0 + $1.readableBytes } ?? 0
        return batch
    }

    /// The first bytes of the body of a refused response.
    mutating func collectErrorBody(after first: CircularBuffer<ByteBuffer>?) async -> Data {
        await chunks.collectErrorBody(after: first)
    }

    /// Counts the last bytes as received before the next ones are asked for.
    mutating func confirm() {
        if unreported > 0 { flight.observer?.didReceiveBody(bytes: unreported) }
        unreported = 0
    }

    private mutating func proceed() async throws(SessionError) {
        confirm()
        try await flight.control.waitWhileSuspended(url)
    }
}
