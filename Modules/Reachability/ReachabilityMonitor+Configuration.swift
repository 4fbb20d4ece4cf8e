extension ReachabilityMonitor {
    /// The settings of a monitor.
    public struct Configuration: Sendable {
        /// The time without further changes after which a change is reported.
        ///
        /// Plugging in a cable causes about a dozen changes, and only the last one matters. When changes continue, the
        /// status is updated after ten times this duration. The default is 250 milliseconds. Values are limited to the
        /// range from zero to one hour.
        public var debounce: Duration = .milliseconds(250)

        /// The names of interfaces whose traffic is billed by volume, in addition to cellular ones. The default is
        /// none.
        public var expensiveInterfaces: Set<String> = []

        /// The names of interfaces whose traffic should be kept low. The default is none.
        public var constrainedInterfaces: Set<String> = []

        /// The interval after which the name of a monitored host is looked up again. The default is 5 minutes.
        ///
        /// The name is also looked up after each change of the network, and soon after a failure. Nil limits look-ups
        /// to these times. Values below 1 second count as 1 second.
        public var resolutionInterval: Duration? = .seconds(300)

        /// An active test of the network. The default is none.
        public var probe: ReachabilityProbe?

        /// The interval for reading the network if the system has no netlink. The default is nil: without netlink, a
        /// monitor then fails with ``ReachabilityError/Code/socketFailed``.
        ///
        /// Sandboxes that forbid netlink sockets usually allow reading `/proc/net` and querying interfaces. Without
        /// netlink, some facts are unknown: routes in tables that policy rules select, unless an address or host is
        /// monitored; gateways; the kinds of some virtual devices; changes that are undone within the interval.
        /// ``ReachabilityMonitor/isPolling`` tells whether this applies. Values below 100 milliseconds count as 100
        /// milliseconds.
        public var pollingInterval: Duration?

        /// Makes a configuration with the defaults.
        public init() {}
    }
}
