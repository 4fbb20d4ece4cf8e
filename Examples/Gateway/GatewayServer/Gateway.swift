import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore
import ServiceLifecycle
import Synchronization

/// A gateway: a server that forwards `/api/**` to an upstream.
package struct Gateway<Client: Upstream>: Service {
    private let application: Application<GatewayResponder<Client>>
    private let draining: Draining
    private let logger: Logger

    /// - Parameters:
    ///   - loops: The event loops of the server, which the upstream shares.
    ///   - telemetry: The metrics and traces; nil for none.
    ///   - onRunning: Receives the port.
    package init(
        to upstream: Client, settings: GatewaySettings, on loops: any EventLoopGroup, telemetry: Telemetry?,
        logger: Logger, onRunning: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        draining = Draining(delay: settings.shutdownDelay)
        self.logger = logger
        let forwarder = Forwarder(upstream: upstream, settings: settings, telemetry: telemetry)
        let executors = upstream.taskExecutors
        application = Application(
            responder: GatewayResponder(forwarder: forwarder, draining: draining),
            server: HTTPServerBuilder { ClientConnections($0, settings, executors: executors) },
            configuration: ApplicationConfiguration(address: .hostname(settings.host, port: settings.port)),
            onServerRunning: { channel in onRunning(channel.localAddress?.port ?? 0) },
            eventLoopGroupProvider: .shared(loops), logger: logger)
    }

    /// Serves until the graceful shutdown of its group, and then until the last response is written.
    package func run() async throws {
        // Services end in reverse order: first the readiness, then the server.
        try await ServiceGroup(services: [application, draining], logger: logger).run()
    }
}

/// The first part of a graceful shutdown: `/readyz` fails, and responses close their connections, while the server
/// still listens. A connection that the server closed at once could have a request on its way, whose response would be
/// lost.
final class Draining: Service {
    private let ready = Atomic(true)
    private let delay: Duration

    init(delay: Duration) { self.delay = delay }

    var isReady: Bool { ready.load(ordering: .relaxed) }

    func run() async throws {
        try await gracefulShutdown()
        ready.store(false, ordering: .relaxed)
        try await Task.sleep(for: delay)
    }
}
