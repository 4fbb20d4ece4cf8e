import ExampleSupport
import Linnet

/// The figures of a request, one per line. The server's reason phrase cannot control a terminal.
struct TimingsTable {
    let text: String

    init(_ attempts: [TransportMetrics], status: HTTPResponse.Status) {
        let metrics = attempts.last ?? TransportMetrics()
        let rows: [(String, String?)] = [
            ("status", "\(status.code) \(status.reasonPhrase)"),
            ("protocol", metrics.httpVersion),
            ("TLS", Self.encryption(metrics)),
            ("trust", metrics.tlsVersion == nil ? nil : Self.trust(metrics)),
            ("proxy", metrics.proxy),
            ("server", metrics.proxy == nil ? metrics.remoteAddress : nil),
            ("body", "\(metrics.responseBodyBytes) bytes"),
            ("name lookup", Self.text(metrics.nameResolution?.duration)),
            ("connect", Self.text(metrics.connect?.duration)),
            ("handshake", Self.text(metrics.tlsHandshake?.duration)),
            ("first byte", Self.text(Self.firstByte(metrics))),
            ("total", Self.text(metrics.total)),
        ]
        text = rows.compactMap { name, value in value.map { Self.row(name, $0) } }.joined()
    }

    private static func row(_ name: String, _ value: String) -> String {
        name + String(repeating: " ", count: max(1, 13 - name.count)) + OneLine.text(value) + "\n"
    }

    private static func encryption(_ metrics: TransportMetrics) -> String {
        guard let version = metrics.tlsVersion else { return "none" }
        return [version, metrics.tlsCipher].compactMap { $0 }.joined(separator: " ")
    }

    private static func trust(_ metrics: TransportMetrics) -> String {
        let key = metrics.verifiedPins.first.map { ", the server's key is " + $0 } ?? ""
        return (metrics.isPinned ? "pinned" : "not pinned") + key
    }

    /// The time from the start of the attempt to the head of the response.
    private static func firstByte(_ metrics: TransportMetrics) -> Duration? {
        guard let start = metrics.start, let head = metrics.responseStart else { return nil }
        return head - start
    }

    private static func text(_ duration: Duration?) -> String? {
        guard let duration else { return nil }
        let tenths = Int64((duration / .microseconds(100)).rounded())
        return "\(tenths / 10).\(abs(tenths % 10)) ms"
    }
}
