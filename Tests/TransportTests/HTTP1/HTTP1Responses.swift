import HTTPTypes
import NIOCore

@testable import LinnetTransport

/// What a connection's bytes came to, as text that tables can hold.
struct ParsedResponses: Equatable {
    /// For each response its status and reason, fields, body and trailers.
    var responses: [String] = []
    var error: HTTP1SyntaxError?

    /// Feeds the pieces in turn, asking again after each response, and ends the connection after the last.
    init(
        _ pieces: [ByteBuffer], method: HTTPRequest.Method = .get,
        limits: TransportConfiguration.ResponseLimits = .init(), tellsReasons: Bool = true
    ) {
        var parser = HTTP1ResponseParser(limits: limits)
        var (current, body) = ("", ByteBuffer())
        parser.begin(method)
        func take(_ event: HTTP1ResponseParser.Event) {
            switch event {
            case .head(let head):
                let status = head.response.status
                current += tellsReasons ? "\(status) " : "\(status.code) "
                current += head.response.headerFields.map { "\($0.name.rawName)=\($0.value) " }.joined()
            case .body(var bytes):
                body.writeBuffer(&bytes)
            case .end(let trailers):
                current += "[" + String(buffer: body) + "]"
                for field in trailers ?? [:] { current += " \(field.name.rawName)=\(field.value)" }
                responses.append(current)
                (current, body) = ("", ByteBuffer())
            }
        }
        do throws(HTTP1SyntaxError) {
            for piece in pieces {
                parser.append(piece)
                while let event = try parser.next() {
                    take(event)
                    if case .end = event { parser.begin(method) }
                }
            }
            if let event = parser.finish() { take(event) }
        } catch {
            self.error = error
        }
    }

    init(_ text: String, method: HTTPRequest.Method = .get, limits: TransportConfiguration.ResponseLimits = .init()) {
        self.init([ByteBuffer(string: text)], method: method, limits: limits)
    }
}

/// Numbers that look random and are the same each time (SplitMix64).
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
