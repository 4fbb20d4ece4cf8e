import CommandSupport
import HTTPTypes
import NIOCore
import Testing

@testable import LinnetTransport

/// Twice the input takes at most two and a half times as long.
@Suite("The parsers' time", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ParserScalingTests {
    private static let limits: TransportConfiguration.ResponseLimits = {
        var limits = TransportConfiguration.ResponseLimits()
        (limits.headBytes, limits.headFields) = (64 * 1024 * 1024, 1_000_000)
        return limits
    }()

    @Test(arguments: [
        ("fields", "HTTP/1.1 200 OK\r\n", "X-A: b\r\n", 2000),
        ("folded lines", "HTTP/1.1 200 OK\r\nX: y\r\n", " z\r\n", 3000),
        ("a long value", "HTTP/1.1 200 OK\r\nX: ", "y", 100_000), ("a long reason", "HTTP/1.1 200 ", "y", 100_000),
        ("options", "HTTP/1.1 200 OK\r\nConnection: ", "close,", 5000),
        ("codings", "HTTP/1.1 200 OK\r\nTransfer-Encoding: ", "identity,", 5000),
        ("zeros", "HTTP/1.1 200 OK\r\nContent-Length: ", "0", 100_000),
        ("chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n", 3000),
        ("trailers", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: y\r\n", 2000),
        ("informational responses", "", "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n", 1000),
    ])
    func responsesOfHTTP1AreReadInLinearTime(name: String, start: String, text: String, count: Int) {
        for size in [Int.max, 13] {
            let make = { (count: Int) -> [ByteBuffer] in
                let bytes = ByteBuffer(string: start + String(repeating: text, count: count))
                return stride(from: 0, to: bytes.readableBytes, by: size).compactMap {
                    bytes.getSlice(at: $0, length: min(size, bytes.readableBytes - $0))
                }
            }
            let growth = growth(from: size == .max ? count : count / 4, make) { pieces in
                var parser = HTTP1ResponseParser(limits: Self.limits)
                parser.begin(.get)
                for piece in pieces {
                    parser.append(piece)
                    while (try? parser.next()) != nil {}
                }
            }
            #expect(growth <= 2.5, "\(name), in pieces of \(size)")
        }
    }

    @Test(arguments: [
        ("indexed lines", [0x88 as UInt8], [0x90 as UInt8], 10_000),
        ("added lines", [0x88], [0x40, 1, 0x61, 1, 0x62], 3000),
        ("literal lines", [0x88], [0x00, 1, 0x61, 1, 0x62], 3000), ("a long integer", [0xFF], [0x80], 50_000),
        ("Huffman codes", [0x88, 0x00, 1, 0x61, 0xFF, 0x81, 0x7F], [0x1F], 0),
    ])
    func fieldBlocksAreDecodedInLinearTime(name: String, start: [UInt8], line: [UInt8], count: Int) {
        let make = { (count: Int) -> [UInt8] in
            guard name == "Huffman codes" else { return start + (0..<count).flatMap { _ in line } }
            // The letter a, eight times, in five bytes.
            let value = [UInt8]((0..<count).flatMap { _ in [0x18, 0xC6, 0x31, 0x8C, 0x63] as [UInt8] })
            var length = [UInt8](arrayLiteral: 0xFF)
            var rest = value.count - 127
            while rest >= 128 {
                length.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            return [0x88, 0x00, 1, 0x61] + length + [UInt8(rest)] + value
        }
        let growth = growth(from: count == 0 ? 3000 : count, make) { bytes in
            var decoder = HTTP2FieldDecoder(maximumListSize: .max)
            _ = bytes.withUnsafeBytes { bytes in try? decoder.decode(bytes) }
        }
        #expect(growth <= 2.5, "\(name)")
    }

    @Test func requestsAreEncodedInLinearTime() {
        let make = { (count: Int) in
            (0..<count).map { HTTP2FieldEncoder.Line(name: "x-\($0 % 7)", value: "value \($0)") }
        }
        let growth = growth(from: 1000, make) { lines in
            var (encoder, buffer) = (HTTP2FieldEncoder(), ByteBuffer())
            encoder.encode(lines, into: &buffer)
        }
        #expect(growth <= 2.5)
    }

    @Test(arguments: [1, 7, Int.max]) func framesAreReadInLinearTime(size: Int) {
        let make = { (count: Int) -> [ByteBuffer] in
            var bytes = ByteBuffer(bytes: [0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88])
            for _ in 0..<count { bytes.writeBytes([0, 0, 1, 0, 0, 0, 0, 0, 1, 0x61]) }
            return stride(from: 0, to: bytes.readableBytes, by: size).compactMap {
                bytes.getSlice(at: $0, length: min(size, bytes.readableBytes - $0))
            }
        }
        let growth = growth(from: size == 1 ? 500 : 3000, make) { pieces in
            var framing = HTTP2Framing(TransportConfiguration())
            framing.begin()
            framing.open(1, [HTTP2FieldEncoder.Line(name: ":method", value: "GET")], isEnd: true)
            for piece in pieces {
                framing.append(piece, .uptimeNanoseconds(1))
                while (try? framing.next()) != nil {}
            }
        }
        #expect(growth <= 2.5)
    }
}
