// Testable: Transport
import HTTPTypes
import NIOCore

@testable import LinnetTransport

/// Parses the input as HTTP/1.1 responses, once whole and once in pieces, with equal results. The first byte determines
/// the size of the pieces and the request.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP1(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let bytes = ByteBuffer(bytes: UnsafeBufferPointer(start: data + 1, count: count - 1))
    let method: HTTPRequest.Method = data[0] & 1 == 1 ? .head : .get
    let size = Int(data[0] >> 1) + 1
    let pieces = stride(from: 0, to: bytes.readableBytes, by: size).compactMap {
        bytes.getSlice(at: $0, length: min(size, bytes.readableBytes - $0))
    }
    guard Outcome(pieces, method) == Outcome([bytes], method) else {
        fatalError("The responses depend on the size of the pieces.")
    }
    return 0
}

/// The result of parsing.
private struct Outcome: Equatable {
    var events: [HTTP1ResponseParser.Event] = []
    var hasFailed = false

    init(_ pieces: [ByteBuffer], _ method: HTTPRequest.Method) {
        var limits = TransportConfiguration.ResponseLimits()
        (limits.headBytes, limits.headFields) = (2000, 20)
        var parser = HTTP1ResponseParser(limits: limits)
        parser.begin(method)
        do throws(HTTP1SyntaxError) {
            for piece in pieces {
                parser.append(piece)
                while let event = try parser.next() {
                    add(event)
                    if case .end = event { parser.begin(method) }
                }
            }
            if let event = parser.finish() { add(event) }
        } catch {
            hasFailed = true
        }
    }

    private mutating func add(_ event: HTTP1ResponseParser.Event) {
        if case .body(let bytes) = event, case .body(var before)? = events.last {
            before.writeImmutableBuffer(bytes)
            events[events.count - 1] = .body(before)
        } else {
            events.append(event)
        }
    }
}
