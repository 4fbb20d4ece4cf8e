public import LinnetTransport

extension Sequence where Element == TransportMetrics {
    /// The timings of the attempts as a table in plain text, with one line for each attempt and times in milliseconds.
    ///
    /// ```
    ///   # protocol  connection       queue      dns  connect      tls     send     wait     read    total …  address
    ///   1 h2        2 new             12.1      1.2      3.4      7.2      0.1     20.3      0.4     33.0 …  192.0.2.7:443
    /// ```
    /// A dash marks a step that was not needed, such as the handshake on an open connection.
    public var table: String {
        var lines = [MetricsTable.heading]
        for (index, metrics) in enumerated() { lines.append(MetricsTable.line(index + 1, metrics)) }
        return lines.joined(separator: "\n")
    }
}

private enum MetricsTable {
    static let heading = row(
        number: "#", version: "protocol", connection: "connection",
        figures: ["queue", "dns", "connect", "tls", "send", "wait", "read", "total", "sent", "received"],
        address: "address")

    static func line(_ number: Int, _ metrics: TransportMetrics) -> String {
        let steps = [
            metrics.queue?.duration, metrics.nameResolution?.duration, metrics.connect?.duration,
            metrics.tlsHandshake?.duration, span(metrics.requestStart, metrics.requestEnd),
            span(metrics.requestEnd, metrics.responseStart), span(metrics.responseStart, metrics.responseEnd),
            metrics.total,
        ]
        let bytes = [metrics.requestBodyBytes, metrics.responseBodyBytes]
        return row(
            number: "\(number)", version: metrics.httpVersion ?? "-",
            connection: "\(metrics.connectionID) \(metrics.isReusedConnection ? "reused" : "new")",
            figures: steps.map(milliseconds) + bytes.map { "\($0)" }, address: metrics.remoteAddress ?? "-")
    }

    private static func row(
        number: String, version: String, connection: String, figures: [String], address: String
    ) -> String {
        let start = right(number, 3) + " " + left(version, 9) + " " + left(connection, 13)
        return start + figures.map { right($0, 9) }.joined() + "  " + address
    }

    private static func span(
        _ start: ContinuousClock.Instant?, _ end: ContinuousClock.Instant?
    ) -> Duration? {
        guard let start, let end else { return nil }
        // The response can begin before the request was sent completely.
        return max(.zero, start.duration(to: end))
    }

    /// Returns a duration in milliseconds, with one decimal.
    private static func milliseconds(_ duration: Duration?) -> String {
        guard let duration else { return "-" }
        let tenths = (duration / .microseconds(100)).rounded()
        guard tenths.isFinite, abs(tenths) < 1e15 else { return "-" }
        return "\(Int64(tenths) / 10).\(abs(Int64(tenths) % 10))"
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
