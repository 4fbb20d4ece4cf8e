// Testable: Transport
import HTTPTypes
import NIOCore

@testable import LinnetTransport

/// Parses the input as the HTTP/2 frames of a server, once whole and once in pieces, with equal results. The first byte
/// is the size of the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP2(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1 else { return 0 }
    let bytes = ByteBuffer(bytes: UnsafeBufferPointer(start: data + 1, count: count - 1))
    let size = Int(data[0]) + 1
    let pieces = stride(from: 0, to: bytes.readableBytes, by: size).compactMap {
        bytes.getSlice(at: $0, length: min(size, bytes.readableBytes - $0))
    }
    guard Account(pieces) == Account([bytes]) else { fatalError("The events depend on the size of the pieces.") }
    return 0
}

/// The events of the frames by stream, as bytes: characters of a body may be in two pieces.
private struct Account: Equatable {
    private var events: [Int: [UInt8]] = [:]
    private var hasFailed = false

    init(_ pieces: [ByteBuffer]) {
        var configuration = TransportConfiguration()
        configuration.limits.headBytes = 4000
        var framing = HTTP2Framing(configuration)
        framing.begin()
        for stream in [1, 3, 5] {
            framing.open(stream, [HTTP2FieldEncoder.Line(name: ":method", value: "GET")], isEnd: stream != 5)
        }
        do throws(HTTP2ConnectionError) {
            for piece in pieces {
                framing.append(piece, .uptimeNanoseconds(1))
                while let event = try framing.next() { add(event) }
            }
        } catch {
            hasFailed = true
        }
    }

    private mutating func add(_ event: HTTP2Framing.Event) {
        switch event {
        case .head(let stream, let section, let isEnd):
            let fields = section.fields.map { "\($0.name.rawName)=\($0.value)" }
            note("head \(section.status ?? 0) \(fields) \(isEnd) ", stream)
        case .data(let stream, let bytes, let isEnd):
            events[stream, default: []] += bytes.readableBytesView
            if isEnd { note(".", stream) }
        case .reset(let stream, let code): note("reset \(code.rawValue) ", stream)
        case .broken(let stream, let error): note("broken \(error.rule) ", stream)
        default: note("\(event) ", 0)
        }
    }

    private mutating func note(_ text: String, _ stream: Int) { events[stream, default: []] += text.utf8 }
}
