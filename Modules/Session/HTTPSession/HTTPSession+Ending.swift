internal import LinnetSerialization
public import LinnetTransport

extension HTTPSession {
    /// Ends the session, and returns when its connections and threads have ended. Later requests fail with
    /// ``SessionError/Code/shutDown``, and so do handles that were never resumed.
    ///
    /// A graceful shutdown, the default, lets running requests finish, with their redirects, credentials and retries; a suspended
    /// handle finishes only once it is resumed. It must not be awaited by a hook or an interceptor of the session, for whose request
    /// it waits; ``invalidate(cancellingTasks:)`` returns at once. An immediate one fails running requests with
    /// ``SessionError/Code/shutDown``. Validations that the cache does in the background count as running requests. The cookies of a
    /// persistent configuration are saved.
    public func shutdown(_ mode: ShutdownMode = .graceful) async {
        refuseRequests(mode)
        await end(mode)
    }

    private func end(_ mode: ShutdownMode) async {
        await engine.refreshes?.end(mode)
        if mode == .graceful { await engine.running.drained() }
        await transport.shutdown(mode)
        await initialConfiguration.cookieSaver?.save()
        hub.latch?.sessionEnded()
    }

    /// Ends the session as ``shutdown(_:)`` does, and returns at once: immediately when its tasks are to be cancelled,
    /// otherwise gracefully. ``copy()`` makes a new session like it.
    public func invalidate(cancellingTasks: Bool) {
        let mode = cancellingTasks ? ShutdownMode.immediate : .graceful
        refuseRequests(mode)
        Task { await end(mode) }
    }

    private func refuseRequests(_ mode: ShutdownMode) {
        engine.end(mode)
        for task in registry.tasks where mode == .immediate || !task.hasStarted {
            task.fail(.shutDown(task.originalRequest?.url))
        }
    }

    /// Makes a session with the same base URL and the current ``configuration``, and with its own connections. Also works
    /// after the session has ended.
    ///
    /// The objects that the configuration refers to are shared: the callback executor, the credential store, the cache store,
    /// the HSTS store, the completion group, the reachability monitor, and event loops that are not dedicated.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` when this session was made over a transport; see ``copy(over:)``.
    public func copy() throws(SessionError) -> HTTPSession {
        guard terms.ownsTransport else {
            throw SessionError(.invalidConfiguration, "A session over a given transport needs another transport.")
        }
        return try HTTPSession(baseURL: baseURL, configuration: configuration)
    }

    /// Makes a session with the same base URL and the current ``configuration`` over another transport. Throws as
    /// ``init(baseURL:configuration:transport:)`` does.
    public func copy(over transport: any Transport) throws(SessionError) -> HTTPSession {
        try HTTPSession(baseURL: baseURL, configuration: configuration, transport: transport)
    }
}
