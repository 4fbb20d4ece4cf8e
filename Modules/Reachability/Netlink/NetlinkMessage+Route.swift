extension NetlinkMessage.Content {
    /// `struct rtmsg`: family, prefix lengths, type of service, table, protocol, scope, type, flags.
    static func route(_ body: NetlinkBytes, isRemoval: Bool) -> Self? {
        guard let family = body.uint8(at: 0), let prefixLength = body.uint8(at: 1),
            let sourceLength = body.uint8(at: 2), let shortTable = body.uint8(at: 4), let type = body.uint8(at: 7),
            let flags = body.uint32(at: 8)
        else { return nil }
        // Routers can have a million routes, so all but default routes are skipped before their attributes are parsed.
        guard let family = NetworkFamily(family), flags & RouteFlag.cloned == 0 else { return .irrelevant }
        guard prefixLength <= 1, sourceLength == 0 else { return .otherRoute }
        var attributes = RouteAttributes(table: UInt32(shortTable))
        let isComplete = body.forEachAttribute(from: 12) { attributes.read(type: $0, value: $1) }
        guard isComplete, attributes.isWellFormed else { return nil }
        guard let table = NetworkRoute.Table(attributes.table) else { return .otherRoute }
        if isRemoval { return .defaultRouteRemoved }
        let forwards = type == RouteFlag.unicastType
        let interfaces = forwards ? attributes.interfaces : RouteFlag.refusingTypes.contains(type) ? [0] : []
        guard flags & RouteFlag.unusable == 0 else { return .defaultRoute([]) }
        return .defaultRoute(
            interfaces.map {
                NetworkRoute(
                    family: family, destination: attributes.destination(prefixLength: prefixLength), table: table,
                    metric: attributes.metric, interface: $0, forwards: forwards)
            })
    }
}

private enum RouteFlag {
    /// `RTN_UNICAST`.
    static let unicastType: UInt8 = 1
    /// `RTN_BLACKHOLE`, `RTN_UNREACHABLE` and `RTN_PROHIBIT`.
    static let refusingTypes: ClosedRange<UInt8> = 6...8
    /// A cached route for one destination (`RTM_F_CLONED`).
    static let cloned: UInt32 = 0x200
    /// The next hop is dead or has no carrier (`RTNH_F_DEAD`, `RTNH_F_LINKDOWN`).
    static let unusable: UInt32 = 0x11
}

private struct RouteAttributes {
    var table: UInt32
    var metric: UInt32 = 0
    var isUpperHalf = false
    var outputInterface: Int32?
    var hops: [Int32] = []
    var isWellFormed = true

    var interfaces: [Int32] { outputInterface.map { [$0] } ?? hops }

    func destination(prefixLength: UInt8) -> NetworkRoute.Destination {
        if prefixLength == 0 { return .everything }
        return isUpperHalf ? .upperHalf : .lowerHalf
    }

    mutating func read(type: UInt16, value: NetlinkBytes) {
        switch type {
        case NetlinkAttributeType.routeTable: read(value.uint32(at: 0)) { $0.table = $1 }
        case NetlinkAttributeType.routePriority: read(value.uint32(at: 0)) { $0.metric = $1 }
        case NetlinkAttributeType.routeOutputInterface: read(value.int32(at: 0)) { $0.outputInterface = $1 }
        case NetlinkAttributeType.routeDestination: read(value.uint8(at: 0)) { $0.isUpperHalf = $1 & 0x80 != 0 }
        case NetlinkAttributeType.routeMultipath: readHops(value)
        default: break
        }
    }

    private mutating func read<Value>(_ value: Value?, _ store: (inout Self, Value) -> Void) {
        guard let value else {
            isWellFormed = false
            return
        }
        store(&self, value)
    }

    /// A list of `struct rtnexthop`: length, flags, weight and interface, each followed by its attributes.
    private mutating func readHops(_ bytes: NetlinkBytes) {
        var position = 0
        while position < bytes.count {
            guard let length = bytes.uint16(at: position), let flags = bytes.uint8(at: position + 2),
                let interface = bytes.int32(at: position + 4), length >= 8, position + Int(length) <= bytes.count
            else {
                isWellFormed = false
                return
            }
            if UInt32(flags) & RouteFlag.unusable == 0 { hops.append(interface) }
            position += NetlinkBytes.aligned(Int(length))
        }
    }
}
