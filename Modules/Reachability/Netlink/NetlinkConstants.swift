// Constants of the kernel's interface from linux/netlink.h, linux/rtnetlink.h, linux/if_link.h and linux/if_addr.h,
// which the Glibc module does not export. They are part of the kernel's stable ABI.

/// Values of the message header (`struct nlmsghdr`).
enum NetlinkHeader {
    static let length = 16
    static let alignment = 4

    static let request: UInt16 = 0x1
    static let dumpInterrupted: UInt16 = 0x10
    static let dump: UInt16 = 0x300
}

/// Types of the messages that are sent or read.
enum NetlinkType {
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let overrun: UInt16 = 4
    static let newLink: UInt16 = 16
    static let deleteLink: UInt16 = 17
    static let getLink: UInt16 = 18
    static let newAddress: UInt16 = 20
    static let deleteAddress: UInt16 = 21
    static let getAddress: UInt16 = 22
    static let newRoute: UInt16 = 24
    static let deleteRoute: UInt16 = 25
    static let getRoute: UInt16 = 26
    static let newRule: UInt16 = 32
    static let deleteRule: UInt16 = 33
    static let newNexthop: UInt16 = 104
    static let deleteNexthop: UInt16 = 105
}

/// Multicast groups, as the bits of `sockaddr_nl.nl_groups`.
enum NetlinkGroup {
    static let link: UInt32 = 0x1
    static let ipv4Address: UInt32 = 0x10
    static let ipv4Route: UInt32 = 0x40
    static let ipv4Rule: UInt32 = 0x80
    static let ipv6Address: UInt32 = 0x100
    static let ipv6Route: UInt32 = 0x400
    static let ipv6Rule: UInt32 = 0x40000
    // Also reports routes that are removed together with their nexthop object. Kernels before 5.3 ignore this bit.
    static let nexthop: UInt32 = 1 << 31

    // Neighbours are left out, because their entries change all the time, and a failed one does not remove a route.
    static let all = link | ipv4Address | ipv4Route | ipv4Rule | ipv6Address | ipv6Route | ipv6Rule | nexthop
}

/// Types of attribute (`struct rtattr`).
enum NetlinkAttributeType {
    // The two highest bits are the flags "nested" and "network byte order".
    static let mask: UInt16 = 0x3FFF

    static let linkName: UInt16 = 3
    static let linkMTU: UInt16 = 4
    static let linkLower: UInt16 = 5
    static let linkOperationalState: UInt16 = 16
    static let linkInfo: UInt16 = 18
    static let linkExtensionMask: UInt16 = 29
    static let linkLowerNamespace: UInt16 = 37
    static let linkInfoKind: UInt16 = 1

    static let addressBytes: UInt16 = 1
    static let addressLocalBytes: UInt16 = 2
    static let addressFlags: UInt16 = 8

    static let routeDestination: UInt16 = 1
    static let routeOutputInterface: UInt16 = 4
    static let routeGateway: UInt16 = 5
    static let routePriority: UInt16 = 6
    static let routeSource: UInt16 = 7
    static let routeMetrics: UInt16 = 8
    static let routeMetricMTU: UInt16 = 2
    static let routeMultipath: UInt16 = 9
    static let routeTable: UInt16 = 15
    static let routeVia: UInt16 = 18
}

/// Options of a netlink socket (`SOL_NETLINK`).
enum NetlinkOption {
    static let level: Int32 = 270
    /// `NETLINK_GET_STRICT_CHK`: the kernel checks requests strictly, and applies the filters in them (since 4.20).
    static let strictCheck: Int32 = 12
}
