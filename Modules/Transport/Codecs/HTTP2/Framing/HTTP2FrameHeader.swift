internal import HTTPTypes
internal import NIOCore

/// The type of a frame (RFC 9113, 6). Unknown types are ignored.
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
    /// For SETTINGS and PING.
    static let ack = HTTP2FrameFlags(rawValue: 0x01)
    static let endHeaders = HTTP2FrameFlags(rawValue: 0x04)
    static let padded = HTTP2FrameFlags(rawValue: 0x08)
    static let priority = HTTP2FrameFlags(rawValue: 0x20)
}

/// The nine-byte header of a frame (RFC 9113, 4.1).
struct HTTP2FrameHeader {
    static let size = 9

    var length: Int
    /// Nil for an unknown type.
    var type: HTTP2FrameType?
    var flags: HTTP2FrameFlags
    var stream: Int
}

extension ByteBuffer {
    /// Reads a frame header; nil if it is incomplete.
    mutating func readFrameHeader() -> HTTP2FrameHeader? {
        guard let (word, end) = readMultipleIntegers(as: (UInt64, UInt8).self) else { return nil }
        return HTTP2FrameHeader(
            length: Int(word >> 40), type: HTTP2FrameType(rawValue: UInt8(truncatingIfNeeded: word >> 32)),
            flags: HTTP2FrameFlags(rawValue: UInt8(truncatingIfNeeded: word >> 24)),
            // The highest bit is reserved.
            stream: Int((word & 0x7F_FFFF) << 8 | UInt64(end)))
    }

    mutating func writeFrameHeader(_ type: HTTP2FrameType, flags: HTTP2FrameFlags = [], stream: Int = 0, length: Int) {
        let (length, stream) = (UInt64(length), UInt64(stream))
        let word = length << 40 | UInt64(type.rawValue) << 32 | UInt64(flags.rawValue) << 24 | stream >> 8
        writeMultipleIntegers(word, UInt8(truncatingIfNeeded: stream))
    }
}

/// The server's settings (RFC 9113, 6.5.2).
struct HTTP2PeerSettings {
    /// The maximum window size (RFC 9113, 6.9.1).
    static let largestWindow = Int(Int32.max)

    var headerTableSize = 4096
    /// Assumed until the server sets it.
    var maximumConcurrentStreams = HTTP2ConnectionStateMachine.assumedConcurrentStreams
    var initialWindowSize = 65_535
    var maximumFrameSize = 16_384

    /// Reads a SETTINGS frame. The last value of a repeated parameter counts.
    mutating func read(_ payload: inout ByteBuffer) throws(HTTP2ConnectionError) {
        while let (identifier, number) = payload.readMultipleIntegers(as: (UInt16, UInt32).self) {
            let value = Int(number)
            switch identifier {
            case 1:
                headerTableSize = value
            case 2:
                // Servers cannot receive pushes.
                guard value == 0 else { throw .rule("SETTINGS that enable push to a server") }
            case 3:
                maximumConcurrentStreams = value
            case 4:
                guard value <= Self.largestWindow else {
                    throw .rule(.flowControlError, "an initial window that is too large")
                }
                initialWindowSize = value
            case 5:
                guard 16_384...16_777_215 ~= value else { throw .rule("an invalid maximum frame size") }
                maximumFrameSize = value
            default:
                break
            }
        }
    }
}

extension ByteBuffer {
    mutating func writeSettings(_ settings: [(identifier: UInt16, value: Int)]) {
        writeFrameHeader(.settings, length: 6 * settings.count)
        for (identifier, value) in settings { writeMultipleIntegers(identifier, UInt32(clamping: value)) }
    }
}

/// A connection error (RFC 9113, 5.4.1).
struct HTTP2ConnectionError: Error, Equatable {
    enum Reason: Equatable {
        /// The server violated the protocol; the violation is the end of a sentence.
        case rule(String)
        /// The server sent too many frames of a kind.
        case flood(String)
        case headTooLarge
    }

    let code: HTTP2ErrorCode
    let reason: Reason

    static func rule(_ rule: String) -> HTTP2ConnectionError { .rule(.protocolError, rule) }

    static func rule(_ code: HTTP2ErrorCode, _ rule: String) -> HTTP2ConnectionError {
        HTTP2ConnectionError(code: code, reason: .rule(rule))
    }

    static func flood(_ frames: String) -> HTTP2ConnectionError {
        HTTP2ConnectionError(code: .enhanceYourCalm, reason: .flood(frames))
    }

    static var headTooLarge: HTTP2ConnectionError {
        HTTP2ConnectionError(code: .enhanceYourCalm, reason: .headTooLarge)
    }

    init(code: HTTP2ErrorCode, reason: Reason) {
        self.code = code
        self.reason = reason
    }

    init(_ error: HPACKError) {
        if error == .listTooLarge {
            self = .headTooLarge
        } else {
            self = .rule(.compressionError, "a field block that cannot be decoded: \(error)")
        }
    }
}

/// A stream error (RFC 9113, 5.4.2).
struct HTTP2StreamError: Error, Equatable {
    var code = HTTP2ErrorCode.protocolError
    /// The violation, as the end of a sentence.
    let rule: String
}
