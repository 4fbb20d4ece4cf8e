import BenchMemory
import Foundation
import HTTPTypes
import LinnetTesting

/// The server: runs when the program is called with `serve PROTOCOL`.
enum Server {
    static let whole = 16 * 1024
    static let pieces = 16
    static let piece = 4096
    static let events = 8

    /// Serves until standard input ends. The first line of output has the port and the root certificate in Base64.
    static func serve(_ wire: Wire) async throws {
        let pki = try TestPKI()
        let configuration = MockServer.Configuration {
            $0.httpVersions = wire == .h2 ? .http2 : .http1
            $0.requestBodies = .streamed
        }
        let server = try await MockServer.start(
            tls: wire == .tls ? try pki.identity() : nil, configuration: configuration, handler: respond)
        tell("\(server.port) \(Data(pki.rootPEM.utf8).base64EncodedString())")
        while readLine() != nil {}
        exit(0)
    }

    @Sendable private static func respond(_ request: RecordedRequest) async -> MockResponse {
        switch request.path {
        case "/whole": return MockResponse(body: .bytes(Data(repeating: 0x62, count: whole)))
        case "/pieces": return MockResponse(body: .chunks(some(pieces)))
        case "/not-found": return MockResponse(status: .notFound, body: .chunks(some(2)))
        case "/events":
            return MockResponse(
                headerFields: [.contentType: "text/event-stream"],
                body: .text(String(repeating: "data: an event\n\n", count: events)))
        case "/no-content": return .status(.noContent)
        case "/redirect": return MockResponse(status: .found, headerFields: [.location: "/whole"])
        case "/stalls":
            return MockResponse(body: .chunks(some(2))).with(.init(.stall, at: .responseBody(after: piece)))
        case "/closes":
            return MockResponse(body: .chunks(some(2))).with(.init(.close, at: .responseBody(after: piece)))
        case "/refused": return MockResponse(status: .contentTooLarge, closesConnection: true)
        default:
            do {
                for try await _ in request.chunks {}
                return .text("taken")
            } catch {
                return .status(.badRequest)
            }
        }
    }

    private static func some(_ count: Int) -> [Data] {
        Array(repeating: Data(repeating: 0x63, count: piece), count: count)
    }
}
