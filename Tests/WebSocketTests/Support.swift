import Foundation
import NIOCore
import NIOWebSocket

@testable import LinnetWebSocket

extension [UInt8] {
    var asData: Data { Data(self) }
}

extension WebSocketFrame {
    /// The bytes of the frame.
    var bytes: ByteBuffer {
        var bytes = ByteBuffer()
        let bits = [fin, rsv1, rsv2, rsv3].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        bytes.writeInteger(bits << 4 | UInt8(webSocketOpcode: opcode))
        let mask: UInt8 = maskKey == nil ? 0 : 0x80
        switch data.readableBytes {
        case let count where count < 126: bytes.writeInteger(mask | UInt8(count))
        case let count where count <= 0xFFFF:
            bytes.writeInteger(mask | 126)
            bytes.writeInteger(UInt16(count))
        case let count:
            bytes.writeInteger(mask | 127)
            bytes.writeInteger(UInt64(count))
        }
        if let maskKey { bytes.writeBytes(maskKey) }
        bytes.writeImmutableBuffer(data)
        return bytes
    }
}

extension WebSocketStateMachine {
    /// Takes a frame and returns its action; nil for none.
    mutating func received(_ frame: WebSocketFrame) -> Action? {
        append(frame.bytes)
        return next()
    }
}
