import CommandSupport
import HTTPTypes
import NIOCore
import Testing

@testable import LinnetTransport

/// RFC 9113, 4 to 6: the events of a server's frames.
@Suite("HTTP/2 framing", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2FramingTests {
    typealias HTTP2ErrorCode = HTTPTypes.HTTP2ErrorCode

    @Test func theConnectionStartsWithThePreface() {
        var framing = HTTP2Framing(TransportConfiguration())
        framing.begin()
        let bytes = framing.takePieces().flatMap { Array($0.bytes.readableBytesView) }
        #expect(bytes.starts(with: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
        let settings: [[UInt8]] = [
            .setting(2, 0), .setting(4, 262_144), .setting(5, 65_536), .setting(6, 327_680),
        ]
        let expected =
            rawFrame(type: 4, settings.flatMap { $0 }) + rawFrame(type: 8, .word(16 * 1024 * 1024 - 65_535))
        #expect(Array(bytes.dropFirst(24)) == expected)
    }

    @Test(
        arguments: [
            (0x7F, 0x7FFE_FDFC), (0xFF, 0x7FFE_FDFC), (0, 0xFE_FDFC), (0x80, 0xFE_FDFC),
        ] as [(UInt8, Int)])
    func aFrameHeaderHasNineBytes(first: UInt8, stream: Int) throws {
        var buffer = ByteBuffer(bytes: [1, 2, 3, 8, 0x25, first, 0xFE, 0xFD, 0xFC, 0])
        let found = buffer.readFrameHeader()
        let header = try #require(found)
        #expect(header.length == 0x01_0203 && header.type == .windowUpdate && header.flags.rawValue == 0x25)
        #expect(header.stream == stream && buffer.readableBytes == 1)
        var short = ByteBuffer(bytes: [UInt8](repeating: 0, count: 8))
        let none = short.readFrameHeader()
        #expect(none == nil && short.readableBytes == 8)
        var written = ByteBuffer()
        written.writeFrameHeader(
            .windowUpdate, flags: [.endStream, .priority, .endHeaders], stream: stream, length: 0x01_0203)
        let copy = written.readFrameHeader()
        let read = try #require(copy)
        #expect(read.length == 0x01_0203 && read.type == .windowUpdate && read.flags.rawValue == 0x25)
        #expect(read.stream == stream && written.readableBytes == 0)
    }

    /// The server reads the rest of a request that was sent completely.
    @Test func windowUpdatesShowThatARequestIsRead() {
        var probe = FramingProbe()
        probe.open(1, isEnd: false)
        probe.send(1, 100, isEnd: true)
        _ = probe.sent()
        for increment in [60, 0, 60, 60] as [UInt32] { probe.feed(rawFrame(type: 8, stream: 1, .word(increment))) }
        #expect(probe.events == ["1 read", "1 read"])
    }

    /// A head in two frames with padding and priority, an informational one, DATA with and without padding, an empty
    /// one, trailers; and frames without meaning in between.
    @Test(arguments: [1, 2, 3, 5, 7, 64, Int.max])
    func aResponseIsParsedInPiecesOfAnySize(size: Int) {
        var probe = FramingProbe(requests: 2)
        probe.feed(
            rawFrame(type: 1, flags: 4, stream: 1, [0x08, 3, 0x31, 0x30, 0x33]),
            rawFrame(type: 1, flags: 0x28, stream: 1, [3, 0, 0, 0, 0, 9, 0x88, 0, 0, 0]),
            rawFrame(type: 9, flags: 4, stream: 1, [0, 1, 0x78, 1, 0x31]),
            rawFrame(type: 0xFA, flags: 0xFF, stream: 1, [1, 2, 3]),
            rawFrame(type: 1, flags: 5, stream: 3, [0x89]),
            rawFrame(type: 0, stream: 1, Array("he".utf8)), rawFrame(type: 2, stream: 9, [0, 0, 0, 0, 1]),
            rawFrame(type: 0, flags: 8, stream: 1, [4] + Array("llo".utf8) + [0, 0, 0, 0]),
            rawFrame(type: 0, flags: 8, stream: 1, [2, 0, 0]), rawFrame(type: 0, stream: 1),
            rawFrame(type: 1, flags: 5, stream: 1, [0, 1, 0x79, 1, 0x32]), inPiecesOf: size)
        #expect(probe.error == nil)
        let other = probe.events.filter { !$0.hasPrefix("1 [") }
        #expect(other == ["1 103", "1 200 x=1", "3 204 end", "1 trailers y=2 end"])
        let body = probe.events.filter { $0.hasPrefix("1 [") }.map { $0.dropFirst(3).dropLast() }.joined()
        #expect(body == "hello")
        #expect(probe.sent() == [])
        #expect(probe.framing.streams.count == 0)
    }

    /// Each piece ends inside the header of a frame, so that there is always an unread byte.
    @Test func theBytesOfReadFramesAreDropped() throws {
        let (frame, now) = (rawFrame(type: 0, stream: 1, [0x61]), NIODeadline.uptimeNanoseconds(1))
        let start = rawFrame(type: 4) + rawFrame(type: 1, flags: 4, stream: 1, [0x88])
        let piece = ByteBuffer(bytes: Array(frame[5...] + frame[..<5]))
        var framing = HTTP2Framing(TransportConfiguration())
        framing.begin()
        framing.open(1, [HTTP2FieldEncoder.Line(name: ":method", value: "GET")], isEnd: true)
        framing.append(ByteBuffer(bytes: start + Array(frame[..<5])), now)
        var (heads, received, capacity) = (0, 0, 0)
        for count in 0..<100_000 {
            if count > 0 { framing.append(piece, now) }
            while let event = try framing.next() {
                switch event {
                case .head: heads += 1
                case .data(_, let bytes, _): received += bytes.readableBytes
                default: break
                }
            }
            capacity = max(capacity, framing.input.storageCapacity)
        }
        #expect(heads == 1 && received == 99_999)
        #expect(capacity <= 256)
    }

    /// A stream that replaces another one is opened after the other's end, since the server counts open streams.
    @Test func aStreamIsResetBeforeTheNextIsOpened() {
        var probe = FramingProbe(requests: 1, settings: .setting(3, 1))
        probe.open(3, isEnd: false)
        probe.open(5)
        probe.send(3, 5, isEnd: true)
        #expect(probe.sent() == [])
        probe.framing.reset(1, .cancel)
        #expect(probe.sent() == ["RST_STREAM 1 8", "HEADERS 3 true", "DATA 3 5 end"])
        probe.framing.reset(3, .cancel)
        #expect(probe.sent() == ["RST_STREAM 3 8", "HEADERS 5 true end"])
    }

    @Test func anEmptyFrameEndsAStream() {
        var probe = FramingProbe(requests: 2)
        probe.feed(rawFrame(type: 1, flags: 4, stream: 1, [0x88]), rawFrame(type: 0, flags: 1, stream: 1))
        probe.feed(rawFrame(type: 1, flags: 4, stream: 3, [0x88]), rawFrame(type: 0, flags: 9, stream: 3, [2, 0, 0]))
        #expect(probe.events == ["1 200", "1 [] end", "3 200", "3 [] end"])
        #expect(probe.error == nil)
    }

    @Test func settingsAndPingsAreAcknowledged() {
        var probe = FramingProbe()
        probe.feed(rawFrame(type: 4, .setting(3, 7)), rawFrame(type: 6, Array("12345678".utf8)))
        #expect(probe.sent() == ["SETTINGS ack", "PING ack12345678"])
        #expect(probe.framing.peer.maximumConcurrentStreams == 7)
        #expect(!probe.framing.isAcknowledged)
        probe.feed(rawFrame(type: 4, flags: 1), rawFrame(type: 6, flags: 1, [1, 2, 3, 4, 5, 6, 7, 8]))
        #expect(probe.framing.isAcknowledged)
        #expect(probe.sent() == [] && probe.error == nil)
    }

    /// RFC 9113, 5.1: a client may discard frames for closed streams, whichever side closed them.
    @Test(
        arguments: [
            rawFrame(type: 0, stream: 5, [1]), rawFrame(type: 0, flags: 1, stream: 5),
            rawFrame(type: 1, flags: 4, stream: 5, [0x88]), rawFrame(type: 1, flags: 5, stream: 5, [0x89]),
            rawFrame(type: 1, stream: 5) + rawFrame(type: 9, flags: 4, stream: 5, [0x88]),
            rawFrame(type: 3, stream: 5, .word(0)), rawFrame(type: 8, stream: 5, .word(0)),
        ])
    func framesForAClosedStreamAreDiscarded(frame: [UInt8]) {
        for end in [rawFrame(type: 1, flags: 5, stream: 5, [0x88]), rawFrame(type: 3, stream: 5, .word(8))] {
            var probe = FramingProbe(requests: 3)
            probe.feed(end, frame, rawFrame(type: 1, flags: 5, stream: 1, [0x88]))
            #expect(probe.error == nil && probe.events.count == 2 && probe.events.last == "1 200 end")
            #expect(probe.sent() == [])
        }
    }

    @Test func aFrameMayHaveTheMaximumSize() {
        for (length, code) in [(20_000, nil), (20_001, .frameSizeError)] as [(Int, HTTP2ErrorCode?)] {
            var probe = FramingProbe(requests: 1) { $0.http2.maximumFrameSize = 20_000 }
            probe.feed(rawFrame(type: 1, flags: 4, stream: 1, [0x88]))
            probe.feed(rawFrame(type: 0, stream: 1, [UInt8](repeating: 7, count: length)))
            #expect(probe.error?.code == code)
        }
    }

    /// Errors of the connection. Streams 1 and 3 are open, 5 is closed, 7 is not open yet.
    @Test(
        arguments: [
            (rawFrame(type: 4, stream: 1), .protocolError), (rawFrame(type: 4, [1, 2, 3, 4, 5]), .frameSizeError),
            (rawFrame(type: 4, flags: 1, .setting(3, 1)), .frameSizeError),
            (rawFrame(type: 4, .setting(2, 1)), .protocolError),
            (rawFrame(type: 4, .setting(4, 0x8000_0000)), .flowControlError),
            (rawFrame(type: 4, .setting(5, 16_383)), .protocolError),
            (rawFrame(type: 4, .setting(5, 16_777_216)), .protocolError),
            (rawFrame(type: 6, [1, 2, 3, 4, 5, 6, 7]), .frameSizeError),
            (rawFrame(type: 6, stream: 1, [1, 2, 3, 4, 5, 6, 7, 8]), .protocolError),
            (rawFrame(type: 7, [0, 0, 0, 0, 0, 0, 0]), .frameSizeError),
            (rawFrame(type: 7, stream: 1, [0, 0, 0, 0, 0, 0, 0, 0]), .protocolError),
            (rawFrame(type: 8, [0, 0, 1]), .frameSizeError), (rawFrame(type: 8, .word(0)), .protocolError),
            (rawFrame(type: 8, .word(0x7FFF_FFFF)), .flowControlError),
            (rawFrame(type: 8, stream: 7, .word(1)), .protocolError),
            (rawFrame(type: 8, stream: 2, .word(1)), .protocolError),
            (rawFrame(type: 3, stream: 1, [0, 0, 8]), .frameSizeError), (rawFrame(type: 3, .word(8)), .protocolError),
            (rawFrame(type: 3, stream: 7, .word(8)), .protocolError), (rawFrame(type: 3, [0, 0, 8]), .protocolError),
            (rawFrame(type: 2, [0, 0, 0, 0, 1]), .protocolError), (rawFrame(type: 2, stream: 7, [0]), .frameSizeError),
            (rawFrame(type: 0, [1]), .protocolError), (rawFrame(type: 0, stream: 7, [1]), .protocolError),
            (rawFrame(type: 0, stream: 2, [1]), .protocolError),
            (rawFrame(type: 0, flags: 8, stream: 1), .frameSizeError),
            (rawFrame(type: 0, flags: 8, stream: 1, [2, 0]), .protocolError),
            (rawFrame(type: 1, flags: 4, [0x88]), .protocolError),
            (rawFrame(type: 1, flags: 4, stream: 7, [0x88]), .protocolError),
            (rawFrame(type: 1, flags: 4, stream: 2, [0x88]), .protocolError),
            (rawFrame(type: 1, flags: 12, stream: 1, [2, 0x88]), .protocolError),
            (rawFrame(type: 1, flags: 12, stream: 1), .frameSizeError),
            (rawFrame(type: 1, flags: 0x24, stream: 1, [0, 0, 0, 0]), .frameSizeError),
            (rawFrame(type: 1, flags: 4, stream: 1, [0xFF]), .compressionError),
            (rawFrame(type: 5, flags: 4, stream: 1, [0, 0, 0, 2, 0x82]), .protocolError),
            (rawFrame(type: 9, flags: 4, stream: 1, [0x88]), .protocolError),
            (rawFrame(type: 1, stream: 1, [0x88]) + rawFrame(type: 0, stream: 1, [1]), .protocolError),
            (rawFrame(type: 1, stream: 1, [0x88]) + rawFrame(type: 9, flags: 4, stream: 3), .protocolError),
            (rawFrame(type: 1, stream: 1, [0x88]) + rawFrame(type: 0xFA), .protocolError),
            ([1, 0, 1, 0, 0, 0, 0, 0, 1], .frameSizeError),
        ] as [([UInt8], HTTP2ErrorCode)])
    func anErrorOfTheConnectionEndsIt(bytes: [UInt8], code: HTTP2ErrorCode) {
        for size in [1, Int.max] {
            var probe = FramingProbe(requests: 3)
            probe.feed(rawFrame(type: 1, flags: 5, stream: 5, [0x88]))
            probe.feed(bytes, inPiecesOf: size)
            #expect(probe.error?.code == code)
            #expect(probe.sent().last == "GOAWAY \(code.rawValue)")
            // Later bytes are ignored.
            probe.feed(rawFrame(type: 1, flags: 5, stream: 1, [0x88]))
            #expect(probe.events == ["5 200 end"])
        }
    }

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "\u{0}\u{0}\u{0}\u{6}\u{0}\u{0}\u{0}\u{0}\u{0}",
        "\u{0}\u{0}\u{0}\u{4}\u{1}\u{0}\u{0}\u{0}\u{0}",
    ])
    func settingsComeFirst(text: String) {
        var framing = HTTP2Framing(TransportConfiguration())
        framing.append(ByteBuffer(string: text), .now())
        #expect(throws: HTTP2ConnectionError.self) { try framing.next() }
    }

    /// Errors of stream 1, which do not affect the others.
    @Test(
        arguments: [
            ([rawFrame(type: 0, stream: 1, [1])], 1), ([rawFrame(type: 0, flags: 1, stream: 1)], 1),
            ([rawFrame(type: 2, stream: 1, [0, 0, 0, 1])], 6), ([rawFrame(type: 1, flags: 4, stream: 1)], 1),
            ([rawFrame(type: 1, flags: 4, stream: 1, [0x88, 0x88])], 1),
            ([rawFrame(type: 1, flags: 4, stream: 1, [0, 1, 0x58, 1, 0x31])], 1),
            (
                [
                    rawFrame(type: 1, flags: 4, stream: 1, [0x88]),
                    rawFrame(type: 1, flags: 4, stream: 1, [0, 1, 0x78, 0]),
                ], 1
            ),
            ([rawFrame(type: 1, flags: 4, stream: 1, [0x88]), rawFrame(type: 1, flags: 5, stream: 1, [0x88])], 1),
        ] as [([[UInt8]], Int)])
    func anErrorOfAStreamResetsIt(frames: [[UInt8]], code: Int) {
        var probe = FramingProbe(requests: 2)
        for frame in frames { probe.feed(frame) }
        #expect(probe.events.last == "1 broken \(code)")
        #expect(probe.sent() == ["RST_STREAM 1 \(code)"])
        // Frames that were under way are counted and ignored, and their fields still change the table: x: 1.
        probe.feed(
            rawFrame(type: 0, stream: 1, [1, 2]), rawFrame(type: 1, flags: 5, stream: 1, [0x40, 1, 0x78, 1, 0x31]),
            rawFrame(type: 3, stream: 1, .word(0)), rawFrame(type: 8, stream: 1, .word(9)),
            rawFrame(type: 1, flags: 5, stream: 3, [0x88, 0xBE]))
        #expect(probe.events.last == "3 200 x=1 end")
        #expect(probe.error == nil && probe.sent() == [])
    }

    /// The request has ended (stream 1), so no data depends on the window.
    @Test(
        arguments: [(1, 0, nil), (1, 0x7FFF_FFFF, nil), (3, 0, 1), (3, 1, nil), (3, 0x7FFF_FFFF, 3)]
            as [(UInt32, UInt32, Int?)])
    func aWindowOverflowIsAnError(stream: UInt32, increment: UInt32, code: Int?) {
        var probe = FramingProbe(requests: 1)
        probe.open(3, isEnd: false)
        probe.feed(rawFrame(type: 8, stream: stream, .word(increment)))
        #expect(probe.events == (code.map { ["3 broken \($0)"] } ?? []))
        #expect(probe.error == nil)
    }

    @Test func framesAfterTheEndOfAStreamAreAnError() {
        var probe = FramingProbe()
        probe.open(1, isEnd: false)
        _ = probe.sent()
        probe.feed(rawFrame(type: 1, flags: 5, stream: 1, [0x88]), rawFrame(type: 0, stream: 1, [1]))
        #expect(probe.events == ["1 200 end", "1 broken 5"])
    }

    /// Any input, while requests are sent, cancelled and read: no trap, and nothing is retained.
    @Test func randomBytesNeitherTrapNorLeak() {
        var dice = SplitMix(seed: 9_114)
        for _ in 0..<3_000 {
            var probe = FramingProbe(requests: 2, settings: .setting(3, 4)) {
                $0.http2.initialWindowSize = 65_535
                $0.http2.maximumFrameSize = 16_384
            }
            for step in 0..<30 where probe.error == nil {
                let stream = UInt32.random(in: 0...12, using: &dice)
                let bytes = (0..<Int.random(in: 0...40, using: &dice)).map { _ in
                    UInt8.random(in: 0...255, using: &dice)
                }
                probe.feed(
                    rawFrame(
                        type: UInt8.random(in: 0...10, using: &dice), flags: UInt8.random(in: 0...63, using: &dice),
                        stream: stream, bytes), inPiecesOf: Int.random(in: 1...60, using: &dice))
                switch Int.random(in: 0..<6, using: &dice) {
                case 0:
                    probe.open(2 * step + 5, isEnd: false)
                    probe.send(2 * step + 5, Int.random(in: 0...90_000, using: &dice), isEnd: Bool.random(using: &dice))
                case 1: probe.framing.reset(Int(stream), .cancel)
                case 2: probe.framing.credit(Int(stream), upTo: 65_535)
                case 3: _ = probe.sent()
                default: break
                }
            }
            _ = probe.sent()
            probe.framing.abandonAll()
            #expect(probe.framing.streams.count == 0)
        }
    }

    @Test func aServersResetIsReported() {
        var probe = FramingProbe(requests: 1)
        probe.feed(rawFrame(type: 3, stream: 1, .word(7)), rawFrame(type: 3, stream: 1, .word(7)))
        #expect(probe.events == ["1 reset 7"])
        #expect(probe.sent() == [] && probe.error == nil)
    }

    @Test func goAwayEndsTheStreamsAboveItsLast() {
        var probe = FramingProbe(requests: 3, settings: .setting(3, 3))
        probe.open(7)
        probe.feed(rawFrame(type: 7, .word(3) + .word(11)))
        #expect(probe.events == ["goaway 3 11 unsent [7]"])
        // Neither reset nor sent, although there is room now.
        #expect(probe.sent() == [])
        probe.feed(rawFrame(type: 1, flags: 5, stream: 3, [0x88]), rawFrame(type: 1, flags: 5, stream: 5, [0x88]))
        #expect(probe.events.last == "3 200 end" && probe.error == nil)
    }
}
