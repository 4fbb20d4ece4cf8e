import CommandSupport
import HTTPTypes
import NIOCore
import Testing

@testable import LinnetTransport

@Suite("HTTP/2 framing with many resets", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP2ManyResetsTests {
    private static func limits(_ configuration: inout TransportConfiguration) {
        configuration.http2.limits.controlFrames = 5
        configuration.http2.limits.streamErrors = 5
        configuration.limits.headBytes = 1_000
    }

    /// A RST_STREAM that ends a request is not counted, since the number of requests limits it. Others are.
    @Test func resetsOfOpenRequestsAreNotAFlood() {
        var probe = FramingProbe(configure: Self.limits)
        probe.now = .uptimeNanoseconds(0) + .hours(1)
        for number in 0..<5_000 {
            probe.open(2 * number + 1)
            probe.feed(rawFrame(type: 3, stream: UInt32(2 * number + 1), .word(8)))
        }
        #expect(probe.error == nil && probe.events.count == 5_000)
        var resets = 0
        while probe.error == nil, resets < 1_000_000 {
            probe.feed(rawFrame(type: 3, stream: 1, .word(8)))
            resets += 1
        }
        // The limit, and sixteen for each stream that was opened.
        #expect(resets == 16 * 5_000 + 6)
    }

    /// RFC 9113, 5.1: frames that were sent before a reset arrived are discarded, for any number of streams. Fields
    /// change the table nevertheless, and DATA counts against the connection's window.
    @Test func aHundredThousandResetStreamsKeepTheConnectionConsistent() {
        var probe = FramingProbe {
            Self.limits(&$0)
            $0.http2.connectionWindowSize = 65_535
        }
        let count = 100_000
        for number in 0..<count {
            probe.open(2 * number + 1)
            probe.framing.reset(2 * number + 1, .cancel)
            if number % 1_000 == 0 { _ = probe.sent() }
        }
        for number in 0..<count {
            let stream = UInt32(2 * number + 1)
            // A head in two frames, a piece of the body with padding, trailers, and a RST_STREAM that crossed ours.
            probe.feed(
                rawFrame(type: 1, stream: stream, [0x88]), rawFrame(type: 9, flags: 4, stream: stream),
                rawFrame(type: 0, flags: 8, stream: stream, [2, 1, 2, 3, 0, 0]),
                rawFrame(type: 1, flags: 5, stream: stream, [0x40, 1, 0x78, 1, UInt8(0x30 + number % 10)]),
                rawFrame(type: 3, stream: stream, .word(8)))
        }
        #expect(probe.error == nil && probe.events == [])
        probe.open(2 * count + 1)
        // The last entry that was added to the table.
        probe.feed(rawFrame(type: 1, flags: 5, stream: UInt32(2 * count + 1), [0x88, 0xBE]))
        #expect(probe.events == ["\(2 * count + 1) 200 x=9 end"])
        #expect(probe.framing.streams.count == 0)
        #expect(probe.framing.receiveWindow > 65_535 / 2)
    }
}
