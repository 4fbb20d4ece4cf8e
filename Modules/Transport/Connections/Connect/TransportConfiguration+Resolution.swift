extension TransportConfiguration {
    /// Determines the addresses of hosts: the resolution of their names, unix sockets in their place, and the local
    /// address of connections.
    public struct Resolution: Sendable, Hashable {
        /// IP addresses, without brackets, for hosts that the system is not asked for, by name. Names are
        /// case-insensitive.
        ///
        /// Only the address changes: the port, the `Host` field, the TLS server name and the host of the certificate's
        /// evaluation still come from the request. The default is empty.
        public var hostOverrides: [String: [String]] = [:]
        /// Paths of unix sockets (`unix(7)`) by host. Connections to the host, on any port, go to the socket.
        ///
        /// ```swift
        /// $0.resolution.unixSockets = ["docker": "/run/docker.sock"]
        /// // http://docker/v1.44/info
        /// ```
        /// A host is a name, which is case-insensitive, or an IP address without brackets. Only the connection changes:
        /// the `Host` field, the TLS server name and the host for the security policy still come from the request, and
        /// the policy decides whether clear text is allowed for that host. Connections to a proxy never use a unix
        /// socket, and connections to a unix socket never use a proxy. A session follows no redirect from another host
        /// to a host on a unix socket. ``TransportMetrics/remoteAddress`` is `unix:` and the path.
        ///
        /// A path has from 1 to 103 bytes and no null byte; a relative one is relative to the working directory. It is
        /// looked up for each connection. The default is empty.
        public var unixSockets: [String: String] = [:]
        /// The local IP address of connections over the network, without brackets; nil, the default, leaves it to the
        /// system.
        ///
        /// Addresses of servers and proxies of the other family are not used. Without a remaining address, a request
        /// fails with ``TransportError/Code/connectionFailed`` (``TransportError/Code/proxyConnectionFailed`` for a
        /// proxy), and with ``TransportError/Code/localAddressUnavailable`` if the machine does not have the local
        /// address. `0.0.0.0` and `::` only choose the family. The resolution of names is unaffected.
        public var localAddress: String?
        /// The name of the network interface for connections over the network, such as `eth0`; they are bound to it
        /// with `SO_BINDTODEVICE` of `socket(7)`; nil, the default, leaves it to the system.
        ///
        /// Every process may do so since Linux 5.7; before, it needs CAP_NET_RAW. A request fails with
        /// ``TransportError/Code/localAddressUnavailable`` if there is no such interface, or no permission. The
        /// resolution of names is unaffected, and uses any interface.
        public var networkInterface: String?
        /// The time for which the system's answers are cached. The absence of an address is cached for a second, or for
        /// this time if it is shorter. At most a day; 0 resolves the name for each connection.
        ///
        /// An answer is also dropped if no connection to its addresses succeeds. The default is 60 seconds.
        public var cacheLifetime: Duration = .seconds(60)

        /// The defaults.
        public init() {}
    }
}
