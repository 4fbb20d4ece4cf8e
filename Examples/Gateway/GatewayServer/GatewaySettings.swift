package import Configuration

/// The settings of a gateway. The names of their environment variables are in the README.
package struct GatewaySettings: Sendable {
    /// The URL in the place of `/api`, such as `http://127.0.0.1:9000/v1`.
    package var upstream: String
    package var host = "127.0.0.1"
    /// The port of the server; 0 for any.
    package var port = 8080
    /// The longest time for a request. A client can ask for less.
    package var timeout: Duration = .seconds(30)
    /// The largest head of a request in bytes.
    package var maximumHeadSize = 32 << 10
    /// The largest body of a request in bytes.
    package var maximumBodySize = 64 << 20
    /// The most connections to the upstream.
    package var connections = 256
    /// The time between the end of readiness and the end of the listener, in which clients leave.
    package var shutdownDelay: Duration = .seconds(1)
    /// Whether there are metrics and traces.
    package var isObserved = true
    /// The share of the traces that are logged, from 0 to 1.
    package var traceRatio = 0.01

    package init(upstream: String) {
        self.upstream = upstream.hasSuffix("/") ? String(upstream.dropLast()) : upstream
    }

    package init(reading config: ConfigReader) throws {
        self.init(upstream: try config.requiredString(forKey: "upstream"))
        host = config.string(forKey: "host", default: host)
        port = config.int(forKey: "port", default: port)
        timeout = .milliseconds(config.int(forKey: "timeout.ms", default: 30_000))
        maximumHeadSize = config.int(forKey: "head.limit", default: maximumHeadSize)
        maximumBodySize = config.int(forKey: "body.limit", default: maximumBodySize)
        connections = config.int(forKey: "connections", default: connections)
        shutdownDelay = .milliseconds(config.int(forKey: "shutdown.delay.ms", default: 1000))
        isObserved = config.bool(forKey: "observed", default: isObserved)
        traceRatio = config.double(forKey: "trace.ratio", default: traceRatio)
    }
}
