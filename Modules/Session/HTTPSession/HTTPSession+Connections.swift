public import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

// Control over a session's connections. It has no effect over a transport that keeps none.
extension HTTPSession {
    /// One executor for each event loop of the session.
    ///
    /// A task that prefers one of them runs on its event loop, and its requests cross no thread on their way:
    ///
    /// ```swift
    /// let executors = session.taskExecutors
    /// await withTaskGroup { group in
    ///     for worker in 0..<32 {
    ///         group.addTask(executorPreference: executors[worker % executors.count]) {
    ///             // many small requests
    ///         }
    ///     }
    /// }
    /// ```
    /// Work that such a task does between its requests delays the other connections of that loop, so it should be short and
    /// must never block. Spread the tasks over all executors. Empty for a transport without event loops.
    /// With `.dedicated` event loops, the tasks have to end before the session is shut down.
    public var taskExecutors: [any TaskExecutor] { transport.taskExecutors }

    /// Closes the connections that no request uses.
    public func closeIdleConnections() {
        transport.discard(.idleConnections)
    }

    /// Prevents the reuse of all open connections: idle ones are closed now, the others once their requests have ended. Use it
    /// after the network has changed.
    public func retireConnections() {
        transport.discard(.connections)
    }

    /// Clears the cache of resolved names. Open connections stay open.
    public func clearResolvedNames() {
        transport.discard(.resolvedNames)
    }

    /// Opens connections to a URL's host in advance, so that the first request need not wait for TCP and TLS: up to `count` in
    /// all, and one where HTTP/2 lets the requests share it. Returns at once; a connection that cannot be opened causes no
    /// error. An http URL of a host that the HSTS store knows becomes https, as in a request.
    ///
    /// Throws ``SessionError/Code/invalidURL`` for a URL that is not http or https with a host,
    /// ``SessionError/Code/trustRefused`` where the security policy lets no clear text go to the host, and
    /// ``SessionError/Code/shutDown``.
    public func prewarm(_ url: URL, connections count: Int = 1) throws(SessionError) {
        let url = initialConfiguration.hstsStore?.upgrading(url) ?? url
        let head = try RequestTarget(url).head(of: SessionRequest(url: url))
        do {
            try transport.prewarm(head, connections: count)
        } catch {
            throw SessionError(error, url: url)
        }
    }
}
