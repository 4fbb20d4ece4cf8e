extension ReachabilityMonitor {
    /// The settings of a monitor.
    public struct Configuration: Sendable {
        /// The time without further changes after which a change is reported.
        ///
        /// Plugging in a cable causes about a dozen changes, of which only the last matters. When changes continue, the
        /// status is updated after ten times this duration. The default is 250 milliseconds. Values are limited to the
        /// range from zero to one hour.
        public var debounce: Duration = .milliseconds(250)

        /// The names of interfaces whose traffic is billed by volume, in addition to cellular ones. The default is none.
        public var expensiveInterfaces: Set<String> = []

        /// The names of interfaces whose traffic is to be kept low. The default is none.
        public var constrainedInterfaces: Set<String> = []

        /// The interval after which the name of a monitored host is looked up again. The default is 5 minutes.
        ///
        /// It is also looked up after each change of the network, and soon after a failure. Nil looks it up then only. Values
        /// below 1 second count as 1 second.
        public var resolutionInterval: Duration? = .seconds(300)

        /// An active test of the network. The default is none.
        public var probe: ReachabilityProbe?

        /// The interval at which the network is read where the system has no netlink. The default is nil: then a monitor fails
        /// with ``ReachabilityError/Code/socketFailed`` there.
        ///
        /// Sandboxes that forbid netlink sockets usually allow reading `/proc/net` and querying interfaces. What cannot be known
        /// without netlink: routes in tables that policy rules select, unless an address or host is monitored; gateways;
        /// the kinds of some virtual devices; changes that are undone within the interval. ``ReachabilityMonitor/isPolling``
        /// says whether this applies. Values below 100 milliseconds count as 100 milliseconds.
        public var pollingInterval: Duration?

        /// Makes a configuration with the defaults.
        public init() {}
    }
}
