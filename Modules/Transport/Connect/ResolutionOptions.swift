/// How names become addresses.
public struct ResolutionOptions: Sendable, Hashable {
    /// IP addresses, without brackets, of hosts that the system is not asked about, by name; upper and lower case are
    /// the same.
    ///
    /// Only the addresses are others: the port, the name in the `Host` field and in TLS, and the name for which the
    /// server's certificate is judged stay those of the request. The default is empty.
    public var hostOverrides: [String: [String]] = [:]
    /// How long the system's answer is used again; a name that has no address is asked about again after a second, and
    /// sooner if this is shorter. At most a day; 0 asks for each connection.
    ///
    /// An answer is also dropped when none of its addresses can be connected to. The default is 60 seconds.
    public var cacheLifetime: Duration = .seconds(60)

    /// The defaults.
    public init() {}
}
