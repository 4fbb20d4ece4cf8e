import COpenSSL
import FoundationEssentials
import LinnetTesting

/// A WebSocket server (RFC 6455) that returns each short text, and its own "bye" before it closes.
enum EchoServer {
    static func start() async throws(TestingError) -> MockServer {
        try await MockServer.startRaw { connection in
            let head = String(decoding: try await connection.read(through: "\r\n\r\n"), as: UTF8.self)
            let lines = head.split(separator: "\r\n")
            let key = lines.first { $0.lowercased().hasPrefix("sec-websocket-key:") }?.split(separator: " ").last ?? ""
            let answer = [
                "HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket",
                "Sec-WebSocket-Accept: \(accept(String(key)))", "", "",
            ]
            try await connection.write(Data(answer.joined(separator: "\r\n").utf8))
            try await echo(on: connection)
        }
    }

    private static func echo(on connection: RawConnection) async throws {
        var bytes: [UInt8] = []
        while let more = try await connection.read() {
            bytes += more
            while bytes.count >= 6, bytes.count >= 6 + Int(bytes[1] & 0x7F) {
                let length = Int(bytes[1] & 0x7F)
                let payload = (0..<length).map { bytes[6 + $0] ^ bytes[2 + $0 % 4] }
                let opcode = bytes[0] & 0xF
                bytes.removeFirst(6 + length)
                try await connection.write(Data([0x80 | opcode, UInt8(length)] + payload))
                if opcode == 8 { return }
                if payload == Array("last".utf8) { try await connection.write(Data([0x81, 3] + "bye".utf8)) }
            }
        }
    }

    /// The value of Sec-WebSocket-Accept (RFC 6455, 4.2.2).
    private static func accept(_ key: String) -> String {
        let bytes = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        _ = SHA1(bytes, bytes.count, &digest)
        return Data(digest).base64EncodedString()
    }
}
