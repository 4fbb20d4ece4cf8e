import CommandSupport
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import LinnetTransport

/// Compares the parsing of malformed and hostile bytes with NIOHTTP1, which uses llhttp.
///
/// Bytes that both accept must be the same response, and bytes that the other refuses are refused here, except for
/// ``isAllowed(_:)``. More is refused here: control characters in reasons, a `Transfer-Encoding` that does not end with
/// chunked.
@Suite("HTTP/1.1 responses, compared with NIOHTTP1", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP1DifferentialTests {
    private static let seeds =
        HTTP1ResponseParserTests.accepted.map(\.0) + HTTP1ResponseParserTests.refused.map(\.0)
        + HTTP1ResponseParserTests.refusedChunks.map { "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + $0.0 }

    private static let pieces = [
        "\r\n", "\n", "\r", " ", "\t", "\u{0}", ":", ";", ",", "0", "1", "a", "\u{7F}", "HTTP/1.1 ", "chunked", "close",
        "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "Connection: close\r\n", "0\r\n\r\n", "3\r\nabc\r\n",
    ]

    private static func mutated(_ bytes: [UInt8], _ dice: inout SplitMix) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &dice) where !bytes.isEmpty {
            let index = bytes.indices.randomElement(using: &dice) ?? 0
            switch Int.random(in: 0..<5, using: &dice) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &dice)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(contentsOf: (pieces.randomElement(using: &dice) ?? "").utf8, at: index)
            case 3: bytes.removeSubrange(index..<min(index + 4, bytes.count))
            default: bytes.swapAt(index, bytes.indices.randomElement(using: &dice) ?? index)
            }
        }
        return bytes
    }

    /// Input that the RFC requires a client to accept and the other parser refuses: folded lines (RFC 9112, 5.2), any
    /// extension of a chunk, since it ignores them all (7.1.1), bytes beyond ASCII in a reason (4), a tab after a
    /// length (RFC 9110, 5.5), minor versions above 1 (RFC 9110, 2.5).
    private static func isAllowed(_ bytes: [UInt8]) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        return ["\r\n ", "\r\n\t", ";", "\t\r\n"].contains { text.contains($0) }
            || bytes.contains { $0 >= 0x80 } || (2...9).contains { text.hasPrefix("HTTP/1.\($0)") }
    }

    /// The result of NIOHTTP1 for one response and the end of the connection; nil if it is refused or incomplete.
    private static func reference(_ bytes: [UInt8]) throws -> String? {
        let channel = EmbeddedChannel()
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        try channel.pipeline.syncOperations.addHandler(HTTPRequestEncoder())
        try channel.pipeline.syncOperations.addHandler(
            ByteToMessageHandler(
                HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        try channel.writeOutbound(HTTPClientRequestPart.head(.init(version: .http1_1, method: .GET, uri: "/")))
        try channel.writeOutbound(HTTPClientRequestPart.end(nil))
        var hasFailed = false
        do { try channel.writeInbound(ByteBuffer(bytes: bytes)) } catch { hasFailed = true }
        var (text, body) = ("", ByteBuffer())
        func drain() -> String? {
            while let part = try? channel.readInbound(as: HTTPClientResponsePart.self) {
                switch part {
                case .head(let head):
                    text += "\(head.status.code) "
                    text += head.headers.map { "\($0.name)=\(trimmed($0.value)) " }.joined()
                case .body(var bytes): body.writeBuffer(&bytes)
                case .end(let trailers):
                    text += "[" + String(buffer: body) + "]"
                    return text + (trailers?.map { " \($0.name)=\(trimmed($0.value))" }.joined() ?? "")
                }
            }
            return nil
        }
        if let response = drain() { return response }
        if hasFailed { return nil }
        channel.pipeline.fireChannelInactive()
        return drain()
    }

    private static func trimmed(_ value: String) -> String {
        let bytes = Array(value.utf8)
        let end = bytes.lastIndex { $0 != 0x20 && $0 != 0x09 } ?? -1
        return String(decoding: bytes[...end], as: UTF8.self)
    }

    @Test func bothParsersAgree() throws {
        var dice = SplitMix(seed: 20_260_101)
        var both = 0
        for _ in 0..<30_000 {
            let seed = Array((Self.seeds.randomElement(using: &dice) ?? "").utf8)
            let bytes = Self.mutated(seed, &dice)
            let text = String(decoding: bytes, as: UTF8.self).debugDescription
            let ours = ParsedResponses([ByteBuffer(bytes: bytes)], tellsReasons: false).responses.first
            switch (ours, try Self.reference(bytes)) {
            case (let ours?, let theirs?):
                both += 1
                #expect(ours == theirs, "\(text)")
            case (.some, nil): #expect(Self.isAllowed(bytes), "\(text)")
            case (nil, _): break
            }
        }
        #expect(both > 2_000)
    }
}
