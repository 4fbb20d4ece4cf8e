public import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport

// Control over a session's connections. It has no effect on a transport without persistent connections.
extension HTTPSession {
    /// One executor for each event loop of the session.
    ///
    /// A task that prefers one of them runs on its event loop, and its requests need no change of threads:
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
    /// The task's own work between requests delays the other connections of that loop, so it should be short and must
    /// never block. Spread the tasks over all executors. The array is empty for a transport without event loops. With
    /// `.dedicated` event loops, the tasks must end before the session is shut down.
    public var taskExecutors: [any TaskExecutor] { transport.taskExecutors }

    /// Closes the connections that no request uses.
    public func closeIdleConnections() {
        transport.discard(.idleConnections)
    }

    /// Prevents the reuse of all open connections: idle ones are closed now, the others once their requests have ended.
    /// Call it after a change of the network.
    public func retireConnections() {
        transport.discard(.connections)
    }

    /// Clears the cache of resolved names. Open connections stay open.
    public func clearResolvedNames() {
        transport.discard(.resolvedNames)
    }

    /// Opens connections to a URL's host in advance, so that the first request does not wait for TCP and TLS: up to
    /// `count` in all, or one if requests share it by HTTP/2. Returns at once; a connection that cannot be opened
    /// causes no error. As in a request, an http URL of a known HSTS host becomes https.
    ///
    /// Throws ``SessionError/Code/invalidURL`` unless the URL is http or https with a host,
    /// ``SessionError/Code/trustRefused`` if the security policy forbids clear text to the host, and
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
