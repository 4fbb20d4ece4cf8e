extension ReachabilityMonitor {
    /// How a monitor works, fixed when it is made.
    public struct Configuration: Sendable, Hashable {
        /// For how long the network must rest before a change is reported.
        ///
        /// A cable that is plugged in causes a dozen changes, of which only the last counts. A network that does not rest is
        /// looked at after ten times this duration. The default is 100 milliseconds; less than zero counts as zero, and more
        /// than an hour as an hour.
        public var debounce: Duration = .milliseconds(100)

        /// Makes a configuration with the defaults.
        public init() {}
    }
}
