internal import HTTPTypes
internal import NIOCore

/// What the server has said that it takes (RFC 9113, 6.5.2).
struct HTTP2PeerSettings {
    /// The largest window there is (RFC 9113, 6.9.1).
    static let largestWindow = Int(Int32.max)

    var headerTableSize = 4096
    /// As we assume until the server says otherwise.
    var maximumConcurrentStreams = HTTP2ConnectionStateMachine.assumedConcurrentStreams
    var initialWindowSize = 65_535
    var maximumFrameSize = 16_384

    /// Reads a SETTINGS frame. Of a parameter that comes more than once the last value counts.
    mutating func read(_ payload: inout ByteBuffer) throws(HTTP2ConnectionError) {
        while let (identifier, number) = payload.readMultipleIntegers(as: (UInt16, UInt32).self) {
            let value = Int(number)
            switch identifier {
            case 1:
                headerTableSize = value
            case 2:
                // A server has nobody to push to it.
                guard value == 0 else { throw .rule("SETTINGS that allow pushes to a server") }
            case 3:
                maximumConcurrentStreams = value
            case 4:
                guard value <= Self.largestWindow else {
                    throw .rule(.flowControlError, "an initial window beyond all measure")
                }
                initialWindowSize = value
            case 5:
                guard 16_384...16_777_215 ~= value else { throw .rule("a frame size that no frame can have") }
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
