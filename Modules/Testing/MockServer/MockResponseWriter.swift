internal import FoundationEssentials
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// Writes one response to the wire, byte for byte, and meets its faults on the way.
///
/// Belongs to the connection's task.
final class MockResponseWriter {
    private let response: MockResponse
    private let connection: ServerConnection
    private let framing: ResponseFraming
    private let closes: Bool
    /// Sorted by offset.
    private var bodyFaults: [(offset: Int, effect: MockServer.Fault.Effect)]
    /// Bytes that have not been handed to the connection.
    private var pending = ByteBuffer()
    private var bodyBytes = 0
    private var bytesSincePause = 0

    init(_ response: MockResponse, to connection: ServerConnection, method: HTTPRequest.Method, version: HTTPVersion) {
        self.response = response
        self.connection = connection
        framing = ResponseFraming(response, method: method, version: version)
        closes = response.closesConnection || framing.needsClose
        let faults = response.faults.compactMap { fault in
            fault.trigger.responseBodyOffset.map { (offset: $0, effect: fault.effect) }
        }
        bodyFaults = faults.sorted { $0.offset < $1.offset }
    }

    /// Writes the response, and returns whether the connection stays open.
    func run() async throws -> Bool {
        for head in response.informational {
            pending.write(head)
            try await flush()
        }
        try await performFaults(at: .responseHead)
        if case .raw(let bytes) = response.body.storage {
            try await write(Data(bytes))
        } else {
            pending.write(framing.head(of: response, closes: closes))
            if framing.hasBody { try await writeBody() }
        }
        try await performBodyFaults(upTo: .max)
        if framing.isChunked && framing.hasBody { pending.writeLastChunk(response.trailers ?? [:]) }
        try await flush(endsExchange: !response.faults.contains { $0.trigger == .responseEnd })
        try await performFaults(at: .responseEnd)
        return !closes
    }

    private func writeBody() async throws {
        switch response.body.storage {
        case .bytes(let bytes), .untilClose(let bytes): try await write(bytes, flushes: false)
        case .stream(_, let produce): try await produce(self)
        case .raw: break
        }
    }

    /// Writes a piece of the body; with chunked coding it is a chunk.
    func write(_ piece: Data, flushes: Bool = true) async throws {
        guard !piece.isEmpty else { return }
        if framing.isChunked { pending.writeString(String(piece.count, radix: 16) + "\r\n") }
        var rest = piece[...]
        while true {
            try await performBodyFaults(upTo: bodyBytes)
            guard !rest.isEmpty else { break }
            let count = min(rest.count, (bodyFaults.first?.offset ?? .max) - bodyBytes, roomBeforePause)
            pending.writeBytes(rest.prefix(count))
            rest = rest.dropFirst(count)
            bodyBytes += count
            try await pauseIfDue(after: count)
        }
        if framing.isChunked { pending.writeString("\r\n") }
        if flushes { try await flush() }
    }

    private var roomBeforePause: Int {
        response.throttle.map { $0.bytes - bytesSincePause } ?? .max
    }

    private func pauseIfDue(after count: Int) async throws {
        guard let throttle = response.throttle else { return }
        bytesSincePause += count
        guard bytesSincePause >= throttle.bytes else { return }
        bytesSincePause = 0
        try await flush()
        try await connection.clock.sleep(for: throttle.pause)
    }

    private func performFaults(at trigger: MockServer.Fault.Trigger) async throws {
        for fault in response.faults where fault.trigger == trigger {
            try await connection.perform(fault.effect)
        }
    }

    private func performBodyFaults(upTo offset: Int) async throws {
        while let fault = bodyFaults.first, fault.offset <= offset {
            bodyFaults.removeFirst()
            try await flush()
            try await connection.perform(fault.effect)
        }
    }

    private func flush(endsExchange: Bool = false) async throws {
        let bytes = pending
        pending = ByteBuffer()
        guard bytes.readableBytes > 0 || endsExchange else { return }
        try await connection.write(bytes, endsExchange: endsExchange)
    }
}
