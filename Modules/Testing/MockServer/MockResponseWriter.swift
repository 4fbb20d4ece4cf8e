internal import FoundationEssentials
internal import HTTPTypes

/// Writes one response and performs its faults.
///
/// Used by the task of the exchange only.
final class MockResponseWriter {
    private let response: MockResponse
    private let sink: any ResponseSink
    private let link: any ExchangeLink
    /// Sorted by offset.
    private var bodyFaults: [(offset: Int, effect: MockServer.Fault.Effect)]
    private var bodyBytes = 0
    private var bytesSincePause = 0

    init(_ response: MockResponse, to sink: any ResponseSink, over link: any ExchangeLink) {
        self.response = response
        self.sink = sink
        self.link = link
        let faults = response.faults.compactMap { fault in
            fault.trigger.responseBodyOffset.map { (offset: $0, effect: fault.effect) }
        }
        bodyFaults = faults.sorted { $0.offset < $1.offset }
    }

    /// Writes the response.
    func run() async throws {
        for head in response.informational {
            sink.writeInformational(head)
            try await sink.flush(endsExchange: false)
        }
        try await performFaults(at: .responseHead)
        if case .raw(let bytes) = response.body.storage {
            try await write(Data(bytes))
        } else {
            sink.writeHead()
            if sink.hasBody { try await writeBody() }
        }
        try await performBodyFaults(upTo: .max)
        sink.writeEnd()
        try await sink.flush(endsExchange: !response.faults.contains { $0.trigger == .responseEnd })
        try await performFaults(at: .responseEnd)
    }

    private func writeBody() async throws {
        switch response.body.storage {
        case .bytes(let bytes), .untilClose(let bytes): try await write(bytes, flushes: false)
        case .stream(_, let produce): try await produce(self)
        case .raw: break
        }
    }

    /// Writes a piece of the body: a chunk with chunked coding, a DATA frame over HTTP/2.
    func write(_ piece: Data, flushes: Bool = true) async throws {
        guard !piece.isEmpty else { return }
        sink.beginPiece(of: piece.count)
        var rest = piece[...]
        while true {
            try await performBodyFaults(upTo: bodyBytes)
            guard !rest.isEmpty else { break }
            let count = min(rest.count, (bodyFaults.first?.offset ?? .max) - bodyBytes, roomBeforePause)
            sink.write(rest.prefix(count))
            rest = rest.dropFirst(count)
            bodyBytes += count
            try await pauseIfDue(after: count)
        }
        sink.endPiece()
        if flushes { try await sink.flush(endsExchange: false) }
    }

    private var roomBeforePause: Int {
        response.throttle.map { $0.bytes - bytesSincePause } ?? .max
    }

    private func pauseIfDue(after count: Int) async throws {
        guard let throttle = response.throttle else { return }
        bytesSincePause += count
        guard bytesSincePause >= throttle.bytes else { return }
        bytesSincePause = 0
        try await sink.flush(endsExchange: false)
        try await link.clock.sleep(for: throttle.pause)
    }

    private func performFaults(at trigger: MockServer.Fault.Trigger) async throws {
        for fault in response.faults where fault.trigger == trigger {
            try await link.perform(fault.effect)
        }
    }

    private func performBodyFaults(upTo offset: Int) async throws {
        while let fault = bodyFaults.first, fault.offset <= offset {
            bodyFaults.removeFirst()
            try await sink.flush(endsExchange: false)
            try await link.perform(fault.effect)
        }
    }
}

/// Encodes a response for one version of HTTP.
///
/// Written parts are buffered until ``flush(endsExchange:)``. Used by the task of one exchange only.
protocol ResponseSink: AnyObject {
    /// Whether the response has a body: not for HEAD, and not with the statuses 204 and 304.
    var hasBody: Bool { get }

    /// Writes a response with a 1xx status.
    func writeInformational(_ head: HTTPResponse)
    /// Writes the head of the response.
    func writeHead()
    /// Begins a piece of the body with the given length.
    func beginPiece(of count: Int)
    /// Writes bytes of a piece, or of a raw response.
    func write(_ bytes: Data)
    /// Ends the piece.
    func endPiece()
    /// Ends the response.
    func writeEnd()
    /// Sends the buffered parts, and returns when they were written to the socket.
    func flush(endsExchange: Bool) async throws
}
