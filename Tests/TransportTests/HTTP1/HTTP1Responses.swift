import HTTPTypes
import NIOCore

@testable import LinnetTransport

/// The parsed responses of a connection, as text for tables.
struct ParsedResponses: Equatable {
    /// For each response its status and reason, fields, body and trailers.
    var responses: [String] = []
    var error: HTTP1SyntaxError?

    /// Parses the pieces in order, with a new request after each response, and ends the connection after the last.
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
