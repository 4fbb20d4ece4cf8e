/// Where the hosts of requests are: how their names are resolved, which of them are unix sockets, and from where connections to them
/// are opened.
public struct ResolutionOptions: Sendable, Hashable {
    /// IP addresses, without brackets, for hosts that the system is not asked for, by name. Names are case-insensitive.
    ///
    /// Only the address changes: the port, the `Host` field, the TLS server name and the host for which the certificate
    /// is evaluated stay those of the request. The default is empty.
    public var hostOverrides: [String: [String]] = [:]
    /// Paths of unix sockets (`unix(7)`), by the host whose connections go to them, whatever the port.
    ///
    /// ```swift
    /// $0.resolution.unixSockets = ["docker": "/run/docker.sock"]
    /// // http://docker/v1.44/info
    /// ```
    /// A host is a name, which is case-insensitive, or an IP address without brackets. Only the connection changes: the `Host`
    /// field, the TLS server name and the host that the security policy evaluates stay those of the request, and clear text is
    /// allowed as the policy says for that host. Connections to a proxy are never to a unix socket, and those to a unix socket
    /// never through a proxy. A session follows no redirect from another host to one on a unix socket. ``TransportMetrics/remoteAddress`` is
    /// `unix:` and the path.
    ///
    /// A path has from 1 to 103 bytes and no null byte; a relative one is relative to the working directory. It is looked up for each
    /// connection. The default is empty.
    public var unixSockets: [String: String] = [:]
    /// The local IP address, without brackets, that connections over the network are bound to; nil, the default, leaves it to the system.
    ///
    /// Addresses of servers and proxies of the other family are not used. If that leaves none, a request fails with
    /// ``TransportError/Code/connectionFailed`` (``TransportError/Code/proxyConnectionFailed`` for a proxy), and with ``TransportError/Code/localAddressUnavailable`` if the machine does not have
    /// the local address. `0.0.0.0` and `::` only choose the family. Names are resolved as without it.
    public var localAddress: String?
    /// The name of the network interface that connections over the network are bound to, such as `eth0`, with `SO_BINDTODEVICE` of
    /// `socket(7)`; nil, the default, leaves it to the system.
    ///
    /// Every process may do so since Linux 5.7; before, it needs CAP_NET_RAW. A request fails with
    /// ``TransportError/Code/localAddressUnavailable`` if there is no such interface, or no permission. Names are resolved as
    /// without it, through any interface.
    public var networkInterface: String?
    /// How long the system's answers are cached. That a name has no address is cached for a second, or this time if it
    /// is shorter. At most a day; 0 resolves the name for each connection.
    ///
    /// An answer is also dropped if none of its addresses can be connected to. The default is 60 seconds.
    public var cacheLifetime: Duration = .seconds(60)

    /// The defaults.
    public init() {}
}
