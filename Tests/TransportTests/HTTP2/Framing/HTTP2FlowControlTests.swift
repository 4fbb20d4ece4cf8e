import HTTPTypes
import NIOCore
import Testing

@testable import LinnetTransport

/// RFC 9113, 5.2 and 6.9: windows of both directions, and the server's limits.
@Suite("HTTP/2 flow control", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2FlowControlTests {
    private static func small(_ configuration: inout TransportConfiguration) {
        configuration.http2.initialWindowSize = 65_535
        configuration.http2.connectionWindowSize = 100_000
    }

    private static func data(_ stream: UInt32, _ count: Int) -> [UInt8] {
        rawFrame(type: 0, stream: stream, [UInt8](repeating: 7, count: count))
    }

    private static func head(_ stream: UInt32) -> [UInt8] { rawFrame(type: 1, flags: 4, stream: stream, [0x88]) }

    @Test func dataBeyondTheStreamWindowIsAStreamError() {
        var probe = FramingProbe(requests: 1, configure: Self.small)
        probe.feed(Self.head(1), Self.data(1, 60_000), Self.data(1, 5_535))
        #expect(probe.error == nil && probe.framing.streams.count == 1)
        probe.feed(Self.data(1, 1))
        #expect(probe.events.last == "1 broken 3")
    }

    @Test func dataBeyondTheConnectionWindowIsAConnectionError() {
        var probe = FramingProbe(requests: 2, configure: Self.small)
        // The window is not updated, since nothing asks the framing to.
        probe.framing.receiveWindow = 70_000
        probe.feed(Self.head(1), Self.head(3), Self.data(1, 15_000))
        #expect(probe.error == nil)
        probe.framing.receiveWindow = 100
        probe.feed(Self.data(3, 101))
        #expect(probe.error?.code == .flowControlError)
    }

    /// Padding and discarded bytes count.
    @Test func theConnectionWindowIsUpdatedAtHalf() {
        var probe = FramingProbe(requests: 1, configure: Self.small)
        probe.feed(Self.head(1), Self.data(1, 40_000))
        #expect(probe.sent() == [])
        probe.framing.reset(1, .cancel)
        #expect(probe.sent() == ["RST_STREAM 1 8"])
        probe.feed(rawFrame(type: 0, flags: 8, stream: 1, [UInt8](repeating: 200, count: 10_000)))
        #expect(probe.sent() == ["WINDOW_UPDATE 0 50000"])
        #expect(probe.framing.receiveWindow == 100_000)
    }

    @Test func theStreamWindowIsUpdatedWhenTheReaderAsks() {
        var probe = FramingProbe(requests: 1, configure: Self.small)
        probe.feed(Self.head(1), Self.data(1, 30_000))
        #expect(probe.framing.receiveWindow(of: 1) == 35_535)
        probe.feed(Self.data(1, 10_000))
        #expect(probe.sent() == [])
        probe.framing.credit(1, upTo: 65_535)
        #expect(probe.sent() == ["WINDOW_UPDATE 1 40000"])
        // Not below the announced window.
        probe.framing.credit(1, upTo: 60_000)
        #expect(probe.sent() == [] && probe.framing.receiveWindow(of: 1) == 65_535)
        probe.feed(rawFrame(type: 0, flags: 1, stream: 1, [UInt8](repeating: 7, count: 50_000)))
        #expect(probe.framing.receiveWindow(of: 1) == nil)
        probe.framing.credit(1, upTo: 65_535)
        #expect(probe.sent() == ["WINDOW_UPDATE 0 90000"])
    }

    @Test func bodiesWaitForBothWindows() {
        var probe = FramingProbe(settings: .setting(4, 20_000))
        probe.open(1, isEnd: false)
        probe.send(1, 30_000, isEnd: true)
        #expect(probe.sent() == ["HEADERS 1 true", "DATA 1 16384", "DATA 1 3616"])
        #expect(probe.carried == [1: 20_000] && probe.ended == [] && probe.framing.isHeldBack(1))
        probe.feed(rawFrame(type: 8, stream: 1, .word(5_000)))
        #expect(probe.sent() == ["DATA 1 5000"])
        // Changes the window of future streams and of this one, then to less than was used.
        probe.feed(rawFrame(type: 4, .setting(4, 22_000)))
        #expect(probe.sent() == ["SETTINGS ack", "DATA 1 2000"])
        probe.feed(rawFrame(type: 4, .setting(4, 0)), rawFrame(type: 8, stream: 1, .word(22_000)))
        #expect(probe.sent() == ["SETTINGS ack"])
        probe.feed(rawFrame(type: 8, stream: 1, .word(100_000)))
        #expect(probe.sent() == ["DATA 1 3000 end"])
        #expect(probe.carried == [1: 30_000] && probe.ended == [1] && probe.framing.sendWindow == 35_535)
    }

    @Test func streamsTakeTurns() {
        var probe = FramingProbe(settings: .setting(4, 1_000_000))
        for stream in [1, 3] {
            probe.open(stream, isEnd: false)
            probe.send(stream, 40_000, isEnd: false)
        }
        let sent = probe.sent()
        #expect(
            sent == [
                "HEADERS 1 true", "HEADERS 3 true", "DATA 1 16384", "DATA 3 16384", "DATA 1 16384", "DATA 3 16383",
            ])
        probe.feed(rawFrame(type: 8, .word(1_000_000)))
        #expect(probe.sent() == ["DATA 1 7232", "DATA 3 7233"])
        #expect(probe.carried == [1: 40_000, 3: 40_000])
        // END_STREAM without data needs no window.
        probe.framing.sendWindow = 0
        probe.send(1, 0, isEnd: true)
        #expect(probe.sent() == ["DATA 1 0 end"])
    }

    /// A body that exceeds the room in the socket takes turns with the others.
    @Test func bodiesWaitForRoomInTheSocket() {
        var probe = FramingProbe(settings: .setting(4, 1_000_000))
        probe.feed(rawFrame(type: 8, .word(1_000_000)))
        for stream in [1, 3] {
            probe.open(stream, isEnd: false)
            probe.send(stream, 40_000, isEnd: true)
        }
        _ = probe.sent(room: 0)
        #expect(probe.sent(room: 30_000) == ["DATA 1 16384", "DATA 3 16384"])
        // Without room no body is sent; all other frames are.
        probe.framing.ping()
        #expect(probe.sent(room: -1).count == 1 && probe.framing.hasSenders)
        #expect(probe.sent(room: 1) == ["DATA 1 16384"])
        probe.framing.dropBody(1)
        #expect(probe.sent() == ["DATA 3 16384", "DATA 3 7232 end"])
        #expect(!probe.framing.hasSenders && !probe.framing.isHeldBack(3))
    }

    @Test func unsentDataOfAResetStreamIsDropped() {
        var probe = FramingProbe(settings: .setting(4, 0))
        probe.open(1, isEnd: false)
        probe.send(1, 10, isEnd: true)
        probe.framing.reset(1, .cancel)
        #expect(probe.sent() == ["HEADERS 1 true", "RST_STREAM 1 8"])
        probe.send(1, 10, isEnd: true)
        #expect(probe.sent() == [] && probe.carried == [:])
    }

    @Test(arguments: [1, 2])
    func streamsWaitForTheLimitOfConcurrentStreams(first: Int) {
        var probe = FramingProbe(requests: 2, settings: .setting(3, 2))
        probe.open(5, isEnd: false)
        probe.send(5, 3, isEnd: true)
        probe.open(7)
        probe.open(9)
        #expect(probe.sent() == [])
        // Cancelled while it waited: nothing is sent.
        probe.framing.reset(7, .cancel)
        probe.feed(rawFrame(type: 1, flags: 5, stream: 1, [0x88]))
        #expect(probe.sent() == ["HEADERS 5 true", "DATA 5 3 end"])
        #expect(probe.opened == [5])
        if first == 1 {
            probe.feed(rawFrame(type: 4, .setting(3, 3)))
            #expect(probe.sent() == ["SETTINGS ack", "HEADERS 9 true end"])
            #expect(probe.opened == [9])
        } else {
            // A waiting stream was not opened.
            probe.feed(rawFrame(type: 1, flags: 5, stream: 9, [0x88]))
            #expect(probe.error?.code == .protocolError)
        }
    }

    /// RFC 9113, 5.1.2: a limit of no streams may be temporary.
    @Test func aTemporaryLimitOfZeroStreamsDoesNotEndTheConnection() {
        var probe = FramingProbe(settings: .setting(3, 0))
        probe.open(1)
        #expect(probe.sent() == [] && probe.opened == [])
        probe.feed(rawFrame(type: 4, .setting(3, 1)))
        #expect(probe.sent() == ["SETTINGS ack", "HEADERS 1 true end"])
        #expect(probe.opened == [1])
    }

    @Test func aLargeHeadIsSplitIntoContinuationFrames() throws {
        var probe = FramingProbe()
        probe.open(1, isEnd: true, [HTTP2FieldEncoder.Line(name: "x", value: String(repeating: "~", count: 40_000))])
        #expect(probe.sent() == ["HEADERS 1 false end", "CONTINUATION false", "CONTINUATION true"])
    }
}

/// RFC 9113, 10.5: the limits, each reached and then exceeded by one.
@Suite("HTTP/2 framing's limits", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2FrameCountsTests {
    private static func limits(_ configuration: inout TransportConfiguration) {
        configuration.http2.limits.controlFrames = 5
        configuration.http2.limits.streamErrors = 5
        configuration.limits.headBytes = 1_000
    }

    @Test(
        arguments: [
            rawFrame(type: 6, [0, 0, 0, 0, 0, 0, 0, 0]), rawFrame(type: 4), rawFrame(type: 4, flags: 1),
            rawFrame(type: 2, stream: 1, [0, 0, 0, 0, 1]), rawFrame(type: 0xA), rawFrame(type: 0xFA, [1, 2]),
            rawFrame(type: 7, .word(0x7FFF_FFFF) + .word(0)), rawFrame(type: 0, stream: 3),
            rawFrame(type: 0, flags: 8, stream: 3, [1, 0]),
        ])
    func framesWithoutContentAreCounted(frame: [UInt8]) {
        var probe = FramingProbe(requests: 2, configure: Self.limits)
        probe.now = .uptimeNanoseconds(0) + .hours(1)
        probe.feed(rawFrame(type: 1, flags: 4, stream: 3, [0x88]))
        for _ in 0..<5 { probe.feed(frame) }
        #expect(probe.error == nil)
        probe.now = probe.now + .seconds(30)
        for _ in 0..<5 { probe.feed(frame) }
        #expect(probe.error == nil)
        probe.feed(frame)
        #expect(probe.error?.code == .enhanceYourCalm)
    }

    /// A server that flushes after each piece of a body sends one empty frame for each other one.
    @Test func anEmptyFrameIsFreeAfterEachFrameWithData() {
        var probe = FramingProbe(requests: 1, configure: Self.limits)
        probe.now = .uptimeNanoseconds(0) + .hours(1)
        probe.feed(rawFrame(type: 1, flags: 4, stream: 1, [0x88]))
        for _ in 0..<1_000 { probe.feed(rawFrame(type: 0, stream: 1, [1])) }
        for _ in 0..<1_005 { probe.feed(rawFrame(type: 0, stream: 1)) }
        #expect(probe.error == nil)
        probe.feed(rawFrame(type: 0, stream: 1))
        #expect(probe.error?.code == .enhanceYourCalm)
    }

    /// Feeds frames until the connection fails; returns how many there were.
    private func frames(_ probe: inout FramingProbe, _ frame: [UInt8], atMost most: Int = 100_000) -> Int {
        probe.now = .uptimeNanoseconds(0) + .hours(1)
        var count = 0
        while probe.error == nil, count < most {
            probe.feed(frame)
            count += 1
        }
        return count
    }

    /// Endless minimal window updates: for the connection, for an open stream and for a closed one.
    @Test(arguments: [0, 1, 3] as [UInt32])
    func windowUpdatesBeyondTheSentBytesAreCounted(stream: UInt32) {
        var probe = FramingProbe(requests: 2, configure: Self.limits)
        probe.framing.reset(3, .cancel)
        #expect(frames(&probe, rawFrame(type: 8, stream: stream, .word(1))) <= 40)
        #expect(probe.error?.code == .enhanceYourCalm)
    }

    /// A server that widens the windows after each few hundred bytes of an upload.
    @Test func windowUpdatesForSentBytesAreNoFlood() {
        var probe = FramingProbe(configure: Self.limits)
        probe.open(1, isEnd: false)
        for _ in 0..<1_000 {
            probe.send(1, 16_384, isEnd: false)
            _ = probe.sent()
            for _ in 0..<16 {
                probe.feed(rawFrame(type: 8, .word(1_024)), rawFrame(type: 8, stream: 1, .word(1_024)))
            }
        }
        #expect(probe.error == nil && probe.carried[1] == 16_384_000)
    }

    /// RFC 9113, 5.1 and 5.2: data on its way when a stream was closed fits into its window.
    @Test func dataOfAClosedStreamIsLimitedToItsWindow() {
        var probe = FramingProbe(requests: 1)
        probe.framing.reset(1, .cancel)
        let (window, bytes) = (probe.framing.firstWindow, [UInt8](repeating: 0, count: 16_384))
        #expect(frames(&probe, rawFrame(type: 0, stream: 1, bytes)) == window / bytes.count + 1)
        #expect(probe.error?.code == .flowControlError)
    }

    @Test func emptyDataOfAClosedStreamIsCounted() {
        var probe = FramingProbe(requests: 1, configure: Self.limits)
        probe.framing.reset(1, .cancel)
        #expect(frames(&probe, rawFrame(type: 0, flags: 1, stream: 1)) == 16 + 6)
        #expect(probe.error?.code == .enhanceYourCalm)
    }

    /// Large frames cost as much as many small ones.
    @Test(arguments: [
        rawFrame(type: 4, [[UInt8]](repeating: .setting(0xFE, 1), count: 2_000).flatMap { $0 }),
        rawFrame(type: 0xFA, [UInt8](repeating: 0, count: 12_000)),
        rawFrame(type: 7, .word(0x7FFF_FFFF) + .word(0) + [UInt8](repeating: 0, count: 12_000)),
    ])
    func controlFramesCountByTheirSize(frame: [UInt8]) {
        var probe = FramingProbe(requests: 1) { $0.http2.limits.controlFrames = 100 }
        #expect(frames(&probe, frame) <= 10)
        #expect(probe.error?.code == .enhanceYourCalm)
    }

    @Test func streamErrorsAreCounted() {
        var probe = FramingProbe(requests: 7, configure: Self.limits)
        for number in 0..<6 { probe.feed(rawFrame(type: 1, flags: 4, stream: UInt32(2 * number + 1))) }
        #expect(probe.events.count == 5)
        #expect(probe.error?.code == .enhanceYourCalm)
    }

    /// A head may have many frames, each of which counts for 64 bytes more than its payload.
    @Test func theFramesOfAHeadAreLimited() {
        let most = (1_000 + 65_536 - 1) / 64
        for frames in [21, most, most + 1] {
            var probe = FramingProbe(requests: 1, configure: Self.limits)
            probe.feed(rawFrame(type: 1, stream: 1, [0x88]))
            for number in 1...frames { probe.feed(rawFrame(type: 9, flags: number == frames ? 4 : 0, stream: 1)) }
            #expect(probe.error == (frames > most ? .headTooLarge : nil))
            #expect(probe.events == (frames > most ? [] : ["1 200"]))
        }
    }

    @Test func aHeadIsLimitedWhileItArrives() {
        var probe = FramingProbe(requests: 1, configure: Self.limits)
        let part = [UInt8](repeating: 0, count: 34_000)
        probe.feed(rawFrame(type: 1, stream: 1, part), rawFrame(type: 9, stream: 1, part))
        #expect(probe.error == .headTooLarge)
    }

    @Test func unsentAcknowledgementsAreLimited() {
        var probe = FramingProbe { $0.http2.limits.waitingControlFrames = 10 }
        let ping = rawFrame(type: 6, [0, 0, 0, 0, 0, 0, 0, 0])
        // The acknowledgement of SETTINGS is the first.
        for _ in 0..<9 { probe.feed(ping) }
        probe.framing.counts.answersWereTaken()
        for _ in 0..<10 { probe.feed(ping) }
        #expect(probe.error == nil)
        probe.feed(ping)
        #expect(probe.error?.code == .enhanceYourCalm)
    }
}
