#if ServiceLifecycle
public import LinnetSession
internal import LinnetTransport
public import ServiceLifecycle

/// A session runs until the service group shuts down.
///
/// ```swift
/// let group = ServiceGroup(services: [session, server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
/// A service group ends its services in the reverse order, so list a session before the services that use it.
extension HTTPSession: Service {
    /// Waits for the end of the group, and shuts the session down.
    ///
    /// At a graceful shutdown, running requests finish, and new ones fail with `SessionError.Code.shutDown`. If the
    /// task is cancelled, also while requests finish, running requests fail with the same code.
    public func run() async throws {
        do {
            try await gracefulShutdown()
        } catch {
            return await shutdown(.immediate)
        }
        await withTaskCancellationHandler {
            await shutdown(.graceful)
        } onCancel: {
            Task { await shutdown(.immediate) }
        }
    }
}
#endif
