import HTTPTypes
import NIOCore
import NIOEmbedded

@testable import LinnetTransport

/// A client's framing without a channel: a server's bytes go in, and what became of them comes out as text.
struct FramingProbe {
    typealias Line = HTTP2FieldEncoder.Line

    var framing: HTTP2Framing
    var events: [String] = []
    var error: HTTP2ConnectionError?
    var now = NIODeadline.uptimeNanoseconds(0)
    private var output = ByteBuffer()
    private let loop = EmbeddedEventLoop()
    private(set) var promises: [EventLoopFuture<Void>] = []

    /// Has said the first words, and sent so many requests without a body.
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
        let promise = loop.makePromise(of: Void.self)
        promises.append(promise.futureResult)
        framing.send(stream, ByteBuffer(repeating: 1, count: count), isEnd: isEnd, promise)
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
        for promise in framing.takeAbandoned() { promise.fail(ChannelError.ioOnClosedChannel) }
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
        case .settings:
            break
        }
    }

    /// The frames written since it was last asked.
    mutating func sent() -> [String] {
        for piece in framing.takePieces() {
            output.writeImmutableBuffer(piece.bytes)
            piece.promise?.succeed()
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

    /// How many bodies' parts are with the socket.
    var taken: Int {
        var count = 0
        for promise in promises { promise.assumeIsolated().whenSuccess { count += 1 } }
        return count
    }
}

extension [UInt8] {
    /// A parameter of SETTINGS.
    static func setting(_ identifier: UInt8, _ value: UInt32) -> [UInt8] { [0, identifier] + .word(value) }

    static func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) } }
}
