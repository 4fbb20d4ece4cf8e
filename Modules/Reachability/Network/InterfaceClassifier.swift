/// Determines the kind of an interface.
enum InterfaceClassifier {
    static func kind(of link: NetworkLink, facts: InterfaceFacts) -> ReachabilityStatus.Kind {
        if link.isLoopback || link.hardwareType == HardwareType.loopback { return .loopback }
        if isWiFi(link, facts) { return .wifi }
        if isCellular(link, facts) { return .cellular }
        if isTunnel(link, facts) { return .tunnel }
        if let driverKind = link.driverKind {
            if bridgeKinds.contains(driverKind) { return .bridge }
            if placeholderKinds.contains(driverKind) { return .virtual }
        }
        return link.hardwareType == HardwareType.ethernet ? .ethernet : .other
    }

    /// The number of the interface that carries the traffic of another; nil when the device has none, or an unknown
    /// one.
    ///
    /// For other devices, the kernel's number has another meaning: for a veth it identifies the peer.
    static func lower(of link: NetworkLink, _ kind: ReachabilityStatus.Kind) -> Int32? {
        guard let lower = link.lower, lower > 0, lower != link.index else { return nil }
        let isStacked = kind == .tunnel || link.driverKind.map(stackedKinds.contains) ?? false
        return isStacked ? lower : nil
    }

    private static func isWiFi(_ link: NetworkLink, _ facts: InterfaceFacts) -> Bool {
        facts.isWireless || facts.deviceType == "wlan" || HardwareType.wireless.contains(link.hardwareType)
    }

    private static func isCellular(_ link: NetworkLink, _ facts: InterfaceFacts) -> Bool {
        if facts.deviceType == "wwan" || link.driverKind == "wwan" || link.driverKind == "rmnet" { return true }
        // Names that modem drivers assign. A virtual device can have such a name without being a modem.
        if link.driverKind == nil, hasName(link, ["wwan", "rmnet", "rmnet_data", "ccmni"]) { return true }
        // PPP is used by old modems, DSL and VPNs. The kernel does not report the device below, so PPP counts as
        // cellular when the machine has a modem.
        return facts.hasModem && (link.hardwareType == HardwareType.ppp || link.driverKind == "ppp")
    }

    private static func isTunnel(_ link: NetworkLink, _ facts: InterfaceFacts) -> Bool {
        if facts.isTunTap || HardwareType.tunnels.contains(link.hardwareType) { return true }
        guard let kind = link.driverKind else {
            return hasName(link, ["tun", "tap", "wg", "ppp", "sit", "gre", "vti", "xfrm", "ipsec", "tailscale"])
        }
        return tunnelKinds.contains(kind)
    }

    /// Whether the name is one of the prefixes followed by a number.
    private static func hasName(_ link: NetworkLink, _ stems: [String]) -> Bool {
        guard let name = link.name else { return false }
        return stems.contains { stem in
            let number = name.dropFirst(stem.count)
            return name.hasPrefix(stem) && !number.isEmpty && number.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
    }

    private static let tunnelKinds: Set<String> = [
        "tun", "wireguard", "amneziawg", "ovpn", "ovpn-dco", "ppp", "sit", "ipip", "ip6tnl", "gre", "gretap", "ip6gre",
        "ip6gretap", "erspan", "ip6erspan", "vti", "vti6", "xfrm", "ipsec", "l2tp", "vxlan", "geneve", "gtp", "bareudp",
    ]

    private static let bridgeKinds: Set<String> = ["bridge", "openvswitch"]

    /// Virtual devices that are parts of another interface.
    private static let stackedKinds: Set<String> = ["vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec"]

    /// Virtual devices with the Ethernet hardware type that are not connected to a network.
    private static let placeholderKinds: Set<String> = ["dummy", "ifb", "vrf", "nlmon", "netdevsim"]
}

/// The `ARPHRD_` numbers of linux/if_arp.h.
private enum HardwareType {
    static let ethernet: UInt16 = 1
    static let ppp: UInt16 = 512
    static let loopback: UInt16 = 772
    /// 802.11, with and without capture headers.
    static let wireless: Set<UInt16> = [801, 802, 803]
    /// PPP, IPIP, IP6IP6, SIT, GRE over IPv4 and IPv6, and "none", which tun and WireGuard have.
    static let tunnels: Set<UInt16> = [ppp, 768, 769, 776, 778, 823, 0xFFFE]
}
