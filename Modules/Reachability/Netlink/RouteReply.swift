/// The kernel's reply to a look-up of one route: a pure parser.
enum RouteReply {
    /// The answer in a datagram; nil when the datagram does not answer the request.
    static func answer(in datagram: ArraySlice<UInt8>, sequence: UInt32, port: UInt32) -> RouteAnswer? {
        var answer: RouteAnswer?
        _ = NetlinkBytes(datagram).forEachMessage { header, body in
            guard answer == nil, header.sequence == sequence, header.port == port else { return }
            switch header.type {
            case NetlinkType.newRoute: answer = KernelRoute(body).map { .route($0) } ?? .unknown
            case NetlinkType.error:
                answer = body.int32(at: 0).map { .refused(Int32(clamping: $0.magnitude)) } ?? .unknown
            default: break
            }
        }
        return answer
    }
}

extension KernelRoute {
    /// Parses `struct rtmsg` and its attributes; nil when they are malformed.
    init?(_ body: NetlinkBytes) {
        guard let family = body.uint8(at: 0).flatMap(NetworkFamily.init), let prefixLength = body.uint8(at: 1),
            let table = body.uint8(at: 4), let type = body.uint8(at: 7), body.count >= 12
        else { return nil }
        var route = KernelRoute(
            family: family, type: type, prefixLength: prefixLength, table: UInt32(table), interface: 0)
        var isWellFormed = true
        let isComplete = body.forEachAttribute(from: 12) { type, value in
            if !route.read(type, value) { isWellFormed = false }
        }
        guard isComplete, isWellFormed else { return nil }
        self = route
    }

    /// Reads one attribute, and returns whether it is well-formed.
    private mutating func read(_ type: UInt16, _ value: NetlinkBytes) -> Bool {
        switch type {
        case NetlinkAttributeType.routeTable: return Self.store(value.uint32(at: 0), in: &table)
        case NetlinkAttributeType.routePriority: return Self.store(value.uint32(at: 0), in: &metric)
        case NetlinkAttributeType.routeOutputInterface: return Self.store(value.int32(at: 0), in: &interface)
        case NetlinkAttributeType.routeSource: return Self.store(value.address, in: &source)
        case NetlinkAttributeType.routeGateway: return Self.store(value.address, in: &gateway)
        // The family of a router with an address of the other version (RFC 8950), then its address.
        case NetlinkAttributeType.routeVia:
            return Self.store(value.slice(from: 2, to: value.count)?.address, in: &gateway)
        case NetlinkAttributeType.routeMetrics:
            return value.forEachAttribute(from: 0) { type, value in
                if type == NetlinkAttributeType.routeMetricMTU { mtu = value.uint32(at: 0) }
            }
        default: return true
        }
    }

    private static func store<Value>(_ value: Value?, in place: inout Value) -> Bool {
        if let value { place = value }
        return value != nil
    }

    private static func store<Value>(_ value: Value?, in place: inout Value?) -> Bool {
        place = value
        return value != nil
    }
}

extension NetlinkBytes {
    /// The bytes of an address; nil when there are not 4 or 16.
    fileprivate var address: [UInt8]? { count == 4 || count == 16 ? array : nil }
}
