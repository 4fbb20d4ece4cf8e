public import LinnetMessages

/// Observes the connections of a transport, and the requests that wait for one; see
/// ``TransportConfiguration/connectionObserver``.
public protocol ConnectionObserver: Sendable {
    /// Called at each change, on any thread. It must not block.
    ///
    /// For a connection, `opened` is the first event and `closed` the last. A connection is idle when it was opened,
    /// and `becameActive` and `becameIdle` alternate. Events of different threads can arrive in another order than they
    /// happened, but each one arrives.
    func connectionDidChange(_ event: ConnectionEvent)
}

/// A change of a transport's connections.
public struct ConnectionEvent: Sendable, Hashable {
    /// The kind of change.
    public enum Kind: Sendable, Hashable {
        /// A connection was opened.
        case opened
        /// A connection that had no request got one.
        case becameActive
        /// The last request on a connection has ended.
        case becameIdle
        /// A connection was closed this long after it was opened. `wasActive` is whether requests were running on it;
        /// no `becameIdle` follows.
        case closed(age: Duration, wasActive: Bool)
        /// A request waits for a connection.
        case requestWaits
        /// A request no longer waits for a connection: it has one, or has failed.
        case requestStoppedWaiting
    }

    /// The kind of change.
    public let kind: Kind
    /// The origin of the connection or of the request.
    public let origin: Origin
    /// The number of the connection, as in ``TransportMetrics/connectionID``; 0 for a waiting request.
    public let connectionID: UInt64
    /// The protocol: `http/1.1` or `h2`; nil for a waiting request.
    public let httpVersion: String?
    /// The remote address and port; see ``TransportMetrics/remoteAddress``. Nil for a waiting request.
    public let remoteAddress: String?

    init(_ kind: Kind, of origin: Origin, id: UInt64 = 0, _ facts: TransportMetrics.Connection? = nil) {
        self.kind = kind
        self.origin = origin
        connectionID = id
        httpVersion = facts?.httpVersion
        remoteAddress = facts?.remoteAddress
    }
}
