import Configuration
import GatewayServer
import Linnet
import LinnetConfiguration
import LinnetServiceLifecycle
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import UnixSignals

/// A gateway whose settings come from the environment: `UPSTREAM=http://127.0.0.1:9000 gateway`.
@main
struct GatewayMain {
    static func main() async throws {
        let config = ConfigReader(provider: EnvironmentVariablesProvider())
        let settings = try GatewaySettings(reading: config)
        let logger = Logger(label: "gateway")
        let loops = MultiThreadedEventLoopGroup.singleton
        let telemetry = settings.isObserved ? Telemetry(logger: logger, ratio: settings.traceRatio) : nil
        let upstream = try LinnetUpstream(
            settings, HTTPSession.Settings(reading: config.scoped(to: "http")), on: loops, telemetry: telemetry)
        let gateway = Gateway(to: upstream, settings: settings, on: loops, telemetry: telemetry, logger: logger)
        // Services end in reverse order: the gateway answers its last requests, then the session ends.
        try await ServiceGroup(
            services: [upstream.session, gateway], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger
        ).run()
    }
}
