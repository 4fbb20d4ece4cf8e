import Foundation
import HTTPTypes
import LinnetSession
import LinnetTesting

/// A server's side of a WebSocket. Its codec shares no code with the client's.
final class WebSocketPeer: Sendable {
    struct Frame: Equatable {
        var isFinal = true
        var reserved: UInt8 = 0
        var opcode: UInt8
        var payload: [UInt8] = []

        static func text(_ text: String) -> Frame { Frame(opcode: 1, payload: Array(text.utf8)) }
        static func binary(_ bytes: [UInt8]) -> Frame { Frame(opcode: 2, payload: bytes) }
        static func close(_ code: UInt16? = nil, _ reason: String = "") -> Frame {
            let number = code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []
            return Frame(opcode: 8, payload: number + Array(reason.utf8))
        }
        static func ping(_ text: String = "") -> Frame { Frame(opcode: 9, payload: Array(text.utf8)) }
        static func pong(_ text: String = "") -> Frame { Frame(opcode: 10, payload: Array(text.utf8)) }

        var text: String { String(decoding: payload, as: UTF8.self) }
        var closeCode: Int? { payload.count < 2 ? nil : Int(payload[0]) << 8 | Int(payload[1]) }

        /// The bytes of a server's frame, which is not masked.
        var bytes: Data {
            var bytes = Data([(isFinal ? 0x80 : 0) | reserved << 4 | opcode])
            switch payload.count {
            case 0...125: bytes.append(UInt8(payload.count))
            case 126...0xFFFF: bytes.append(contentsOf: [126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)])
            default:
                bytes.append(127)
                for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(payload.count >> shift & 0xFF)) }
            }
            return bytes + payload
        }
    }

    let connection: RawConnection
    /// The head of the request, line by line.
    let request: [String]

    private init(_ connection: RawConnection, _ request: [String]) {
        self.connection = connection
        self.request = request
    }

    /// Reads the request of the handshake.
    static func requested(on connection: RawConnection) async throws -> WebSocketPeer {
        let head = String(decoding: try await connection.read(through: "\r\n\r\n"), as: UTF8.self)
        return WebSocketPeer(connection, head.components(separatedBy: "\r\n"))
    }

    /// Reads the request and accepts it. `following` is sent in the same write as the response.
    static func accepted(
        on connection: RawConnection, fields: [String] = [], following: Data = Data()
    ) async throws -> WebSocketPeer {
        let peer = try await requested(on: connection)
        try await peer.accept(fields: fields, following: following)
        return peer
    }

    func accept(fields: [String] = [], following: Data = Data()) async throws {
        let key = field("Sec-WebSocket-Key") ?? ""
        let lines =
            ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: WebSocket"]
            + ["Sec-WebSocket-Accept: \(Self.accept(key))"] + fields + ["", ""]
        try await connection.write(Data(lines.joined(separator: "\r\n").utf8) + following)
    }

    func field(_ name: String) -> String? {
        request.first { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }

    func send(_ frames: Frame...) async throws {
        try await connection.write(frames.reduce(into: Data()) { $0.append($1.bytes) })
    }

    /// The client's frames.
    func frames() -> Frames { Frames(connection: connection) }

    /// Reads the client's frames. Each must be masked.
    struct Frames {
        let connection: RawConnection
        private var bytes: [UInt8] = []

        init(connection: RawConnection) { self.connection = connection }

        /// The next frame; nil when the client has closed the connection.
        mutating func next() async throws -> Frame? {
            while true {
                if let frame = try take() { return frame }
                guard let more = try await connection.read() else { return nil }
                bytes += more
            }
        }

        private mutating func take() throws -> Frame? {
            guard bytes.count >= 2 else { return nil }
            guard bytes[1] & 0x80 != 0 else { throw PeerError.unmasked }
            var (length, start) = (Int(bytes[1] & 0x7F), 2)
            if length >= 126 {
                let width = length == 126 ? 2 : 8
                guard bytes.count >= 2 + width else { return nil }
                length = bytes[2..<2 + width].reduce(0) { $0 << 8 | Int($1) }
                start += width
            }
            guard bytes.count >= start + 4 + length else { return nil }
            let mask = Array(bytes[start..<start + 4])
            let payload = bytes[start + 4..<start + 4 + length].enumerated().map { $1 ^ mask[$0 % 4] }
            let first = bytes[0]
            bytes.removeFirst(start + 4 + length)
            return Frame(
                isFinal: first & 0x80 != 0, reserved: first >> 4 & 7, opcode: first & 0xF, payload: payload)
        }
    }

    enum PeerError: Error { case unmasked }

    /// The value of Sec-WebSocket-Accept.
    static func accept(_ key: String) -> String {
        Data(SHA1.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))).base64EncodedString()
    }
}

/// SHA-1 (RFC 3174).
private enum SHA1 {
    static func digest(of message: [UInt8]) -> [UInt8] {
        var h: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
        var bytes = message + [0x80]
        while bytes.count % 64 != 56 { bytes.append(0) }
        let bits = UInt64(message.count) * 8
        for shift in stride(from: 56, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: bits >> shift)) }
        for start in stride(from: 0, to: bytes.count, by: 64) {
            var w = (0..<16).map { index -> UInt32 in
                bytes[start + index * 4..<start + index * 4 + 4].reduce(0) { $0 << 8 | UInt32($1) }
            }
            for index in 16..<80 { w.append(rotate(w[index - 3] ^ w[index - 8] ^ w[index - 14] ^ w[index - 16], 1)) }
            var (a, b, c, d, e) = (h[0], h[1], h[2], h[3], h[4])
            for index in 0..<80 {
                let (f, k): (UInt32, UInt32) =
                    switch index {
                    case 0..<20: (b & c | ~b & d, 0x5A82_7999)
                    case 20..<40: (b ^ c ^ d, 0x6ED9_EBA1)
                    case 40..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
                    default: (b ^ c ^ d, 0xCA62_C1D6)
                    }
                (a, b, c, d, e) = (rotate(a, 5) &+ f &+ e &+ k &+ w[index], a, rotate(b, 30), c, d)
            }
            for (index, value) in [a, b, c, d, e].enumerated() { h[index] &+= value }
        }
        return h.flatMap { word in stride(from: 24, through: 0, by: -8).map { UInt8(word >> $0 & 0xFF) } }
    }

    private static func rotate(_ value: UInt32, _ count: UInt32) -> UInt32 {
        value << count | value >> (32 - count)
    }
}

/// Runs a closure with a session for a server that serves each connection with another closure.
func withPeer<Result>(
    tls identity: TestPKI.Identity? = nil, _ configure: (inout HTTPSession.Configuration) -> Void = { _ in },
    serve: @escaping @Sendable (RawConnection) async throws -> Void,
    perform: (HTTPSession) async throws -> Result
) async throws -> Result {
    let server = try await MockServer.startRaw(tls: identity, serve: serve)
    let session = try HTTPSession(baseURL: server.url) { configure(&$0) }
    do {
        let result = try await perform(session)
        await session.shutdown(.immediate)
        await server.shutdown()
        return result
    } catch {
        await session.shutdown(.immediate)
        await server.shutdown()
        throw error
    }
}
