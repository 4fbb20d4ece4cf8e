internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

/// Reads the body of a response for a transfer that can be suspended, and reports how far it is.
///
/// A chunk counts as received once the next one is asked for: it was stored, written or handed over by then.
struct TransferReader {
    private var chunks: HTTPResponseBody.Iterator
    private let observer: (any TransferObserver)?
    private let control: (any TransferControl)?
    /// When a suspension ends; nil if a timer around the request ends it, or nothing does.
    private let deadline: Tick?
    private let requestURL: URL
    private let url: URL
    private var unreported = 0

    init(_ response: StreamedResponse, of flight: Flight) {
        chunks = response.body.makeAsyncIterator()
        (observer, control) = (flight.observer, flight.control)
        deadline = flight.isTimed ? nil : flight.deadline
        (requestURL, url) = (flight.request.url, response.url)
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
        if unreported > 0 { observer?.didReceiveBody(bytes: unreported) }
        unreported = 0
    }

    private mutating func proceed() async throws(SessionError) {
        confirm()
        guard let control, control.isSuspended else { return }
        guard let deadline else { return try await self.control.waitWhileSuspended(url) }
        try await ending(by: deadline, requestURL) { [control = self.control, url] () async throws(SessionError) in
            try await control.waitWhileSuspended(url)
        }
    }
}
