extension ReachabilityStatus {
    /// What kind of interface the traffic takes.
    ///
    /// More kinds may come, so a `switch` over them needs a `default`.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, as in `ethernet`.
        public let description: String

        private init(_ description: String) { self.description = description }

        /// A wired network, and every virtual interface that carries Ethernet frames: bridge, veth, VLAN, bond, macvlan.
        ///
        /// A container or a virtual machine usually sees this kind, whatever its host is connected by.
        public static let ethernet = Kind("ethernet")

        /// A wireless local network (IEEE 802.11).
        public static let wifi = Kind("wifi")

        /// A mobile network, through a modem.
        public static let cellular = Kind("cellular")

        /// A virtual private network or another tunnel: WireGuard, tun and tap, PPP, SIT, GRE, VXLAN, XFRM.
        public static let tunnel = Kind("tunnel")

        /// The machine itself.
        public static let loopback = Kind("loopback")

        /// An interface of no kind above, such as a dummy device.
        public static let other = Kind("other")
    }
}
