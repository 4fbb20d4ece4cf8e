public import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport

// What can be said of a session's connections. A session over another transport than HTTPTransport has none.
extension Session {
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
    /// What such a task does between its requests holds up the other connections of that loop, so it should be short and
    /// must never block. Spread the tasks over all executors. Empty for a session over another transport than
    /// `HTTPTransport`. With `.dedicated` event loops, the tasks have to end before the session is shut down.
    public var taskExecutors: [any TaskExecutor] { transport.taskExecutors }

    /// Closes the connections that no request uses.
    public func closeIdleConnections() {
        (transport as? HTTPTransport)?.closeIdleConnections()
    }

    /// Lets no connection that is open now serve another request: idle ones are closed, the others once their requests are
    /// over. For when the network has changed under them.
    public func retireConnections() {
        (transport as? HTTPTransport)?.retireConnections()
    }

    /// Forgets the addresses of names that were looked up. Connections that are open stay so.
    public func clearResolvedNames() {
        (transport as? HTTPTransport)?.clearResolvedNames()
    }

    /// Opens connections to a URL's host before anybody asks, so that the first request need not wait for TCP and TLS: up
    /// to `count` in all, and one where HTTP/2 lets the requests share it. Returns at once; a connection that cannot be
    /// opened fails nobody.
    ///
    /// Throws ``SessionError/Code/invalidURL`` for a URL that is not http or https with a host,
    /// ``SessionError/Code/trustRefused`` where the security policy lets no clear text go to the host, and
    /// ``SessionError/Code/shutDown``.
    public func prewarm(_ url: URL, connections count: Int = 1) throws(SessionError) {
        guard let transport = transport as? HTTPTransport else { return }
        let head = try WireTarget(url).head(of: Request(url: url))
        do {
            try transport.prewarm(head, connections: count)
        } catch {
            throw SessionError(error, url: url)
        }
    }
}
