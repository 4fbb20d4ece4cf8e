internal import LinnetSerialization
public import LinnetTransport

extension HTTPSession {
    /// Ends the session, and returns when its connections and threads have ended. Later requests, and handles that were
    /// never resumed, fail with ``SessionError/Code/shutDown``.
    ///
    /// A graceful shutdown, the default, lets running requests finish, with their redirects, credentials and retries; a
    /// suspended handle finishes only once it is resumed. A hook or an interceptor of the session must not await the
    /// shutdown, because the shutdown waits for its request. An
    /// immediate shutdown fails running requests with ``SessionError/Code/shutDown``. Background validations of the
    /// cache count as running requests. The cookies of a persistent configuration are saved.
    public func shutdown(_ mode: ShutdownMode = .graceful) async {
        refuseRequests(mode)
        await end(mode)
    }

    private func end(_ mode: ShutdownMode) async {
        await engine.chain.cache?.refreshes.end(mode)
        if mode == .graceful { await engine.running.drained() }
        await transport.shutdown(mode)
        await initialConfiguration.cookieSaver?.save()
        hub.latch?.sessionEnded()
    }

    /// Ends the session like ``shutdown(_:)``, but returns at once.
    package func startShutdown(_ mode: ShutdownMode) {
        refuseRequests(mode)
        Task { await end(mode) }
    }

    private func refuseRequests(_ mode: ShutdownMode) {
        engine.end(mode)
        for task in registry.tasks where mode == .immediate || !task.hasStarted {
            task.fail(.shutDown(task.originalRequest?.url))
        }
    }

    /// Makes a session with the same base URL and the current ``configuration``, and with its own connections. Also
    /// works after the session has ended.
    ///
    /// The objects that the configuration refers to are shared: the callback executor, the credential store, the cache
    /// store, the HSTS store, the reachability monitor, and event loops that are not dedicated.
    ///
    /// Throws ``SessionError/Code/invalidConfiguration`` if this session has a custom transport; see ``copy(over:)``.
    public func copy() throws(SessionError) -> HTTPSession {
        guard terms.ownsTransport else {
            throw SessionError(.invalidConfiguration, "A session over a given transport needs another transport.")
        }
        return try HTTPSession(baseURL: baseURL, configuration: configuration)
    }

    /// Makes a session for an exchange that an immediate shutdown of this one does not end. Nil if this one was shut
    /// down, or has a custom transport.
    package func copyForLastingExchange() -> HTTPSession? {
        guard !engine.running.hasEnded, terms.ownsTransport else { return nil }
        var configuration = configuration
        // The hook is told of the end of the user's session.
        configuration.sessionHooks.didBecomeInvalid = nil
        return try? HTTPSession(baseURL: baseURL, configuration: configuration)
    }

    /// Makes a session with the same base URL and the current ``configuration`` over another transport. Throws the
    /// errors of ``init(baseURL:configuration:transport:)``.
    public func copy(over transport: any Transport) throws(SessionError) -> HTTPSession {
        try HTTPSession(baseURL: baseURL, configuration: configuration, transport: transport)
    }
}
