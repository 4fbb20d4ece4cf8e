import FoundationEssentials
import HTTPTypes
import Linnet
import Synchronization

/// Records the times of a session's last requests, as one of its instruments.
final class RequestLog: Instrument {
    /// The number of requests that are kept.
    static let limit = 12
    /// An element after each request; a slow reader gets one for several.
    let changes: AsyncStream<Void>
    private let reader: AsyncStream<Void>.Continuation
    private let traces = Mutex<[RequestTrace]>([])

    init() {
        (changes, reader) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The last requests, in the order of their ends.
    var last: [RequestTrace] { traces.withLock { $0 } }

    /// Ends the changes.
    func end() { reader.finish() }

    func willSend(_ request: inout InstrumentedRequest) -> (@Sendable (SendOutcome) -> Void)? {
        let name = Self.name(of: request)
        return { [self] in add(RequestTrace(name: name, $0)) }
    }

    func didDecide(_ decision: TaskEvent.Decision, on request: InstrumentedRequest) {
        // The cache's other parts are sent to the server.
        guard case .cache(let outcome) = decision, [.hit, .stale].contains(outcome) else { return }
        add(RequestTrace(name: Self.name(of: request), outcome: "from the cache", start: .now, bars: []))
    }

    private static func name(of request: InstrumentedRequest) -> String {
        "\(request.method) \(request.url.lastPathComponent)"
    }

    private func add(_ trace: RequestTrace) {
        traces.withLock { $0 = ($0 + [trace]).suffix(Self.limit) }
        reader.yield()
    }
}
