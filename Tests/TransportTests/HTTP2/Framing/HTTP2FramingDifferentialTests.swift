import CommandSupport
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOHTTP2
import Testing

@testable import LinnetTransport

/// Compares the framing with NIOHTTP2's: both must accept the same frames of a server, and refuse the same one, if any.
///
/// If the RFC leaves the choice, an error may concern a stream in one and the connection in the other.
@Suite("HTTP/2 framing, compared with NIOHTTP2", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2FramingDifferentialTests {
    /// The events of a server's frames, by stream, until one was refused.
    struct Account: Equatable {
        var streams: [Int: String] = [:]
        var hasRefused = false
        /// A frame on a closed stream was refused, which a client may also discard (RFC 9113, 5.1).
        var refusedClosedStream = false

        mutating func add(_ stream: Int, _ text: String) { streams[stream, default: ""] += text }
    }

    // MARK: Frames of a server

    private static func frames(_ dice: inout SplitMix) throws -> [[UInt8]] {
        var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
        var frames = [rawFrame(type: 4, Bool.random(using: &dice) ? .setting(3, 100) : [])]
        // Every other server is valid.
        if Bool.random(using: &dice) { return try frames + orderly(&encoder, &dice) }
        for _ in 0..<Int.random(in: 1...12, using: &dice) { frames += try next(&encoder, &dice) }
        // Some bytes are changed.
        if Int.random(in: 0..<4, using: &dice) == 0,
            let number = frames.indices.dropFirst().randomElement(using: &dice),
            let index = frames[number].indices.randomElement(using: &dice)
        {
            frames[number][index] = UInt8.random(in: 0...255, using: &dice)
            // ALTSVC and ORIGIN, which only NIO parses.
            if index == 3, [10, 12].contains(frames[number][3]) { frames[number][3] = 11 }
            // A frame is checked here when its header is complete, and by NIO one byte later: a longer one is
            // completed.
            if index < 3 { frames.append([UInt8](repeating: 0, count: 16_400)) }
        }
        return frames
    }

    /// Three responses, with their frames in any order and other frames in between.
    private static func orderly(_ encoder: inout HPACKEncoder, _ dice: inout SplitMix) throws -> [[UInt8]] {
        var frames: [[UInt8]] = []
        var open: [(stream: UInt32, hasHead: Bool)] = [(1, false), (3, false), (5, false)]
        while let index = open.indices.randomElement(using: &dice), frames.count < 40 {
            let (stream, hasHead) = open[index]
            let kind = Int.random(in: 0..<8, using: &dice)
            switch kind {
            case 0: frames.append(rawFrame(type: 6, flags: 0, [1, 2, 3, 4, 5, 6, 7, 8]))
            case 1: frames.append(rawFrame(type: 8, stream: [0, stream][kind % 2], .word(500)))
            case 2: frames.append(rawFrame(type: 4, .setting(4, UInt32.random(in: 0...100_000, using: &dice))))
            case 3 where hasHead:
                frames.append(rawFrame(type: 3, stream: stream, .word(UInt32.random(in: 0...13, using: &dice))))
                open.remove(at: index)
            case 4 where hasHead:
                frames += try head(stream, &encoder, &dice, status: nil, isEnd: true)
                open.remove(at: index)
            case 5... where hasHead: frames.append(data(stream, &dice, isEnd: false))
            case 3: frames += try head(stream, &encoder, &dice, status: "103", isEnd: false)
            default:
                let isEnd = Int.random(in: 0..<4, using: &dice) == 0
                frames += try head(stream, &encoder, &dice, status: "200", isEnd: isEnd)
                if isEnd { open.remove(at: index) } else { open[index].hasHead = true }
            }
        }
        return frames
    }

    private static func next(_ encoder: inout HPACKEncoder, _ dice: inout SplitMix) throws -> [[UInt8]] {
        let stream: UInt32 = [1, 1, 3, 3, 5].randomElement(using: &dice) ?? 1
        let id = [stream, stream, stream, stream, stream, 0, 2, 7].randomElement(using: &dice) ?? stream
        switch Int.random(in: 0..<16, using: &dice) {
        case 0...5: return try head(stream, &encoder, &dice)
        case 6...9: return [data(stream, &dice)]
        case 10: return [rawFrame(type: 3, stream: id, .word(UInt32.random(in: 0...13, using: &dice)))]
        case 11:
            let increments: [UInt32] = [0, 1, 1_000, 0x7FFF_0000, 0x7FFF_FFFF]
            let increment = increments.randomElement(using: &dice) ?? 0
            return [rawFrame(type: 8, stream: id, .word(increment))]
        case 12: return [rawFrame(type: 6, flags: UInt8.random(in: 0...1, using: &dice), [1, 2, 3, 4, 5, 6, 7, 8])]
        case 13:
            let settings: [[UInt8]] = [
                [], .setting(1, 0), .setting(1, 100), .setting(4, 1), .setting(4, 0x7FFF_FFFF),
                .setting(4, 0x8000_0000),
                .setting(5, 16_384), .setting(5, 1), .setting(9, 9), .setting(3, 50) + .setting(4, 70_000),
            ]
            return [rawFrame(type: 4, settings.randomElement(using: &dice) ?? [])]
        case 14: return [rawFrame(type: 2, stream: stream, [0, 0, 0, 0, 9])]
        default: return [rawFrame(type: UInt8.random(in: 20...255, using: &dice), stream: id, [1, 2, 3])]
        }
    }

    /// A head of any kind, possibly invalid.
    private static func head(
        _ stream: UInt32, _ encoder: inout HPACKEncoder, _ dice: inout SplitMix
    ) throws -> [[UInt8]] {
        let kind = Int.random(in: 0..<12, using: &dice)
        let wrong = kind == 2 ? ["Upper", "upgrade", ":path"].randomElement(using: &dice) : nil
        // The layer above handles an end after an informational response.
        return try head(
            stream, &encoder, &dice, status: kind == 0 ? nil : kind == 1 ? "103" : "200", more: wrong,
            isEnd: kind != 1 && Bool.random(using: &dice))
    }

    private static func head(
        _ stream: UInt32, _ encoder: inout HPACKEncoder, _ dice: inout SplitMix, status: String?, more: String? = nil,
        isEnd: Bool
    ) throws -> [[UInt8]] {
        var headers: HPACKHeaders = [:]
        if let status { headers.add(name: ":status", value: status) }
        for _ in 0..<Int.random(in: 0...3, using: &dice) {
            headers.add(
                name: ["x-a", "date", "server", "x-b"].randomElement(using: &dice) ?? "x",
                value: ["", "1", "some text", "~~~"].randomElement(using: &dice) ?? "")
        }
        if let more { headers.add(name: more, value: "1") }
        var block = ByteBuffer()
        try encoder.encode(headers: headers, to: &block)
        var bytes = Array(block.readableBytesView)
        var flags: UInt8 = isEnd ? 1 : 0
        let cut = Bool.random(using: &dice) ? Int.random(in: 0...bytes.count, using: &dice) : bytes.count
        let rest = Array(bytes[cut...])
        bytes = Array(bytes[..<cut])
        if Int.random(in: 0..<4, using: &dice) == 0 {
            bytes = [3, 0, 0, 0, 0, 1] + bytes + [0, 0, 0]
            flags |= 0x28
        }
        if cut == block.readableBytes { return [rawFrame(type: 1, flags: flags | 4, stream: stream, bytes)] }
        return [
            rawFrame(type: 1, flags: flags, stream: stream, bytes), rawFrame(type: 9, flags: 4, stream: stream, rest),
        ]
    }

    private static func data(_ stream: UInt32, _ dice: inout SplitMix, isEnd: Bool? = nil) -> [UInt8] {
        let bytes = (0..<Int.random(in: 0...20, using: &dice)).map { _ in UInt8.random(in: 97...122, using: &dice) }
        let flags: UInt8 = isEnd ?? (Int.random(in: 0..<4, using: &dice) == 0) ? 1 : 0
        guard Int.random(in: 0..<3, using: &dice) == 0 else {
            return rawFrame(type: 0, flags: flags, stream: stream, bytes)
        }
        let padding = UInt8.random(in: 0...22, using: &dice)
        return rawFrame(
            type: 0, flags: flags | 8, stream: stream, [padding] + bytes + [UInt8](repeating: 0, count: Int(padding)))
    }

    // MARK: Events

    private static func ours(_ bytes: [UInt8], _ dice: inout SplitMix) -> Account {
        var configuration = TransportConfiguration()
        configuration.http2.maximumFrameSize = 16_384
        var framing = HTTP2Framing(configuration)
        framing.begin()
        for stream in [1, 3, 5] {
            framing.open(stream, [HTTP2FieldEncoder.Line(name: ":method", value: "GET")], isEnd: stream != 5)
        }
        var (account, position) = (Account(), 0)
        while position < bytes.count {
            let end = min(bytes.count, position + Int.random(in: 1...40, using: &dice))
            framing.append(ByteBuffer(bytes: bytes[position..<end]), .uptimeNanoseconds(1))
            position = end
            do throws(HTTP2ConnectionError) {
                while !account.hasRefused, let event = try framing.next() { add(event, to: &account) }
            } catch {
                account.hasRefused = true
            }
            if account.hasRefused { return account }
        }
        return account
    }

    private static func add(_ event: HTTP2Framing.Event, to account: inout Account) {
        switch event {
        case .head(let stream, let section, let isEnd):
            let fields = section.fields.map { " \($0.name)=\($0.value)" }.joined()
            account.add(stream, "(\(section.status.map { "\($0)" } ?? "")\(fields))\(isEnd ? "end" : "")")
        case .data(let stream, let bytes, let isEnd):
            account.add(stream, String(buffer: bytes) + (isEnd ? "end" : ""))
        case .reset(let stream, let code): account.add(stream, "reset\(code.rawValue)")
        case .broken: account.hasRefused = true
        case .goAway, .settings, .widened, .read: break
        }
    }

    private final class Recorder: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame
        var account = Account()

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            let stream = Int(frame.streamID)
            guard !account.hasRefused else { return }
            switch frame.payload {
            case .headers(let section):
                let status = section.headers.first(name: ":status") ?? ""
                guard status.isEmpty || Int(status).map({ 100...999 ~= $0 }) ?? false else {
                    // In NIO, the layer above handles it.
                    account.hasRefused = true
                    return
                }
                let fields = section.headers.filter { $0.name != ":status" }.map { " \($0.name)=\($0.value)" }.joined()
                account.add(stream, "(\(status)\(fields))\(section.endStream ? "end" : "")")
            case .data(let data):
                if case .byteBuffer(let bytes) = data.data {
                    account.add(stream, String(buffer: bytes) + (data.endStream ? "end" : ""))
                }
            case .rstStream(let code): account.add(stream, "reset\(code.networkCode)")
            default: break
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            account.hasRefused = true
            if let error = error as? NIOHTTP2Errors.NoSuchStream, [1, 3, 5].contains(Int(error.streamID)) {
                account.refusedClosedStream = true
            }
        }
    }

    /// Whether this framing accepted everything that NIO's accepted before it refused a frame on a closed stream, which
    /// is discarded here.
    private static func wentOn(_ ours: Account, beyond theirs: Account) -> Bool {
        theirs.refusedClosedStream
            && theirs.streams.allSatisfy { (ours.streams[$0.key] ?? "").hasPrefix($0.value) }
    }

    private static func theirs(_ bytes: [UInt8]) throws -> Account {
        let channel = EmbeddedChannel()
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        let recorder = Recorder()
        let pipeline = channel.pipeline.syncOperations
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0)
        ]
        connection.contentLengthValidation = .disabled
        connection.maximumRecentlyResetStreams = 1_000
        connection.maximumSequentialEmptyDataFrames = 16
        try pipeline.addHandler(
            NIOHTTP2Handler(
                mode: .client, connectionConfiguration: connection,
                streamConfiguration: NIOHTTP2Handler.StreamConfiguration()))
        try pipeline.addHandler(recorder)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 80)).wait()
        for stream in [1, 3, 5] {
            let headers: HPACKHeaders = [
                ":method": "GET", ":scheme": "https", ":authority": "localhost", ":path": "/",
            ]
            channel.write(
                HTTP2Frame(
                    streamID: HTTP2StreamID(stream),
                    payload: .headers(.init(headers: headers, endStream: stream != 5))), promise: nil)
        }
        channel.flush()
        _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
        return recorder.account
    }

    @Test func bothParsersAgree() throws {
        var dice = SplitMix(seed: 9_113)
        var (both, refused) = (0, 0)
        for _ in 0..<10_000 {
            let bytes = try Self.frames(&dice).flatMap { $0 }
            let (ours, theirs) = (Self.ours(bytes, &dice), try Self.theirs(bytes))
            if ours.hasRefused { refused += 1 } else { both += 1 }
            let agrees = ours == theirs || Self.wentOn(ours, beyond: theirs)
            #expect(agrees, "\(bytes.map { String($0, radix: 16) }.joined(separator: " ")): \(ours), \(theirs)")
        }
        #expect(both > 3_000 && refused > 3_000)
    }
}
