import HTTPTypes
import NIOCore

@testable import LinnetTransport

/// A client's framing without a channel: takes a server's bytes, and returns the events as text.
struct FramingProbe {
    typealias Line = HTTP2FieldEncoder.Line

    var framing: HTTP2Framing
    var events: [String] = []
    var error: HTTP2ConnectionError?
    var now = NIODeadline.uptimeNanoseconds(0)
    private var output = ByteBuffer()
    /// The number of sent body bytes of each stream.
    private(set) var carried: [Int: Int] = [:]
    /// The streams with completely sent requests.
    private(set) var ended: [Int] = []
    /// The streams that were opened after a wait.
    var opened: [Int] { mutating get { framing.takeOpened() } }

    /// Creates a probe that has sent the preface, and this many requests without a body.
    init(requests: Int = 0, settings: [UInt8] = [], configure: (inout TransportConfiguration) -> Void = { _ in }) {
        var configuration = TransportConfiguration()
        configure(&configuration)
        framing = HTTP2Framing(configuration)
        framing.begin()
        feed(rawFrame(type: 4, settings))
        for number in 0..<requests { open(2 * number + 1) }
        _ = sent()
    }

    mutating func open(_ stream: Int, isEnd: Bool = true, _ more: [Line] = []) {
        framing.open(stream, [Line(name: ":method", value: "GET")] + more, isEnd: isEnd)
    }

    mutating func send(_ stream: Int, _ count: Int, isEnd: Bool) {
        framing.send(stream, ByteBuffer(repeating: 1, count: count), isEnd: isEnd)
    }

    /// Takes bytes from the server, in one piece or byte by byte.
    mutating func feed(_ frames: [UInt8]..., inPiecesOf size: Int = .max) {
        let bytes = frames.flatMap { $0 }
        var position = 0
        repeat {
            let end = min(bytes.count, position + min(size, bytes.count))
            framing.append(ByteBuffer(bytes: bytes[position..<end]), now)
            position = end
            do throws(HTTP2ConnectionError) {
                while let event = try framing.next() { add(event) }
            } catch {
                self.error = error
            }
        } while position < bytes.count
    }

    private mutating func add(_ event: HTTP2Framing.Event) {
        switch event {
        case .head(let stream, let section, let isEnd):
            let fields = section.fields.map { " \($0.name)=\($0.value)" }.joined()
            events.append("\(stream) \(section.status.map { "\($0)" } ?? "trailers")\(fields)\(isEnd ? " end" : "")")
        case .data(let stream, let bytes, let isEnd):
            events.append("\(stream) [\(String(buffer: bytes))]\(isEnd ? " end" : "")")
        case .reset(let stream, let code):
            events.append("\(stream) reset \(code.rawValue)")
        case .broken(let stream, let error):
            events.append("\(stream) broken \(error.code.rawValue)")
        case .goAway(let last, let code, let unsent):
            events.append("goaway \(last) \(code.rawValue)\(unsent.isEmpty ? "" : " unsent \(unsent)")")
        case .read(let stream):
            events.append("\(stream) read")
        case .settings, .widened:
            break
        }
    }

    /// The frames written since the last call.
    mutating func sent(room: Int = .max) -> [String] {
        for piece in framing.takePieces(room: room) {
            output.writeImmutableBuffer(piece.bytes)
            for part in piece.carried {
                carried[part.stream, default: 0] += part.count
                if part.isEnd { ended.append(part.stream) }
            }
        }
        if output.readableBytesView.starts(with: "PRI".utf8) { output.moveReaderIndex(forwardBy: 24) }
        var frames: [String] = []
        while let header = output.readFrameHeader(), var payload = output.readSlice(length: header.length) {
            let end = header.flags.contains(.endStream) ? " end" : ""
            switch header.type {
            case .data: frames.append("DATA \(header.stream) \(header.length)\(end)")
            case .headers: frames.append("HEADERS \(header.stream) \(header.flags.contains(.endHeaders))\(end)")
            case .continuation: frames.append("CONTINUATION \(header.flags.contains(.endHeaders))")
            case .resetStream: frames.append("RST_STREAM \(header.stream) \(payload.readInteger() ?? UInt32(0))")
            case .windowUpdate: frames.append("WINDOW_UPDATE \(header.stream) \(payload.readInteger() ?? UInt32(0))")
            case .goAway: frames.append("GOAWAY \(payload.getInteger(at: payload.readerIndex + 4) ?? UInt32(0))")
            case .settings: frames.append(header.flags.contains(.ack) ? "SETTINGS ack" : "SETTINGS")
            case .ping: frames.append("PING \(header.flags.contains(.ack) ? "ack" : "")\(String(buffer: payload))")
            default: frames.append("other")
            }
        }
        return frames
    }
}

extension [UInt8] {
    /// A parameter of SETTINGS.
    static func setting(_ identifier: UInt8, _ value: UInt32) -> [UInt8] { [0, identifier] + .word(value) }

    static func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) } }
}
