internal import NIOCore

/// What kind of frame it is (RFC 9113, 6). Others may come, and are ignored.
enum HTTP2FrameType: UInt8 {
    case data = 0
    case headers = 1
    case priority = 2
    case resetStream = 3
    case settings = 4
    case pushPromise = 5
    case ping = 6
    case goAway = 7
    case windowUpdate = 8
    case continuation = 9
}

struct HTTP2FrameFlags: OptionSet {
    let rawValue: UInt8

    static let endStream = HTTP2FrameFlags(rawValue: 0x01)
    /// Of SETTINGS and PING.
    static let ack = HTTP2FrameFlags(rawValue: 0x01)
    static let endHeaders = HTTP2FrameFlags(rawValue: 0x04)
    static let padded = HTTP2FrameFlags(rawValue: 0x08)
    static let priority = HTTP2FrameFlags(rawValue: 0x20)
}

/// The nine bytes that each frame begins with (RFC 9113, 4.1).
struct HTTP2FrameHeader {
    static let size = 9

    var length: Int
    /// Nil for one that we do not know.
    var type: HTTP2FrameType?
    var flags: HTTP2FrameFlags
    var stream: Int
}

extension ByteBuffer {
    /// Reads a frame's header; nil when not all of it is there.
    mutating func readFrameHeader() -> HTTP2FrameHeader? {
        guard let (word, end) = readMultipleIntegers(as: (UInt64, UInt8).self) else { return nil }
        return HTTP2FrameHeader(
            length: Int(word >> 40), type: HTTP2FrameType(rawValue: UInt8(truncatingIfNeeded: word >> 32)),
            flags: HTTP2FrameFlags(rawValue: UInt8(truncatingIfNeeded: word >> 24)),
            // The highest bit has no meaning.
            stream: Int((word & 0x7F_FFFF) << 8 | UInt64(end)))
    }

    mutating func writeFrameHeader(_ type: HTTP2FrameType, flags: HTTP2FrameFlags = [], stream: Int = 0, length: Int) {
        let (length, stream) = (UInt64(length), UInt64(stream))
        let word = length << 40 | UInt64(type.rawValue) << 32 | UInt64(flags.rawValue) << 24 | stream >> 8
        writeMultipleIntegers(word, UInt8(truncatingIfNeeded: stream))
    }
}
