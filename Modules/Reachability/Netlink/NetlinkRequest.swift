internal import Glibc

/// A request to the kernel.
struct NetlinkRequest: Hashable, Sendable {
    /// The name of the requested objects for error messages.
    var subject: String
    var type: UInt16
    var flags: UInt16 = NetlinkHeader.request | NetlinkHeader.dump
    /// The structure after the header.
    var body: [UInt8]
    var attributes: [UInt8] = []

    /// The requests for a whole `NetworkState`. Objects come before others that refer to them.
    ///
    /// - Parameter isStrict: Whether the kernel applies filters. It then lists only the routes of the tables that
    ///   matter, and the links without their statistics.
    static func all(isStrict: Bool) -> [NetlinkRequest] {
        [links(isStrict: isStrict)] + NetworkFamily.allCases.map(addresses)
            + NetworkFamily.allCases.flatMap { routes($0, isStrict: isStrict) }
    }

    /// The look-up of one route.
    static func lookUp(_ question: RouteQuestion) -> NetlinkRequest {
        let destination = question.destination
        // IPv4 reports the table main unless the request asks for the table. IPv6 always reports the table, and refuses
        // the flag.
        let tableFlag = destination.family == .ipv4 ? RouteRequestFlag.table : 0
        let flags = question.subject == .route ? RouteRequestFlag.match | tableFlag : tableFlag
        let body =
            [destination.family.number, UInt8(clamping: destination.bytes.count * 8), 0, 0, 0, 0, 0, 0] + raw(flags)
        var attributes = attribute(NetlinkAttributeType.routeDestination, destination.bytes)
        if question.interface != 0 {
            attributes += attribute(NetlinkAttributeType.routeOutputInterface, raw(question.interface))
        }
        return NetlinkRequest(
            subject: "the route", type: NetlinkType.getRoute, flags: NetlinkHeader.request, body: body,
            attributes: attributes)
    }

    func encoded(sequence: UInt32) -> [UInt8] {
        let length = NetlinkHeader.length + body.count + attributes.count
        return Self.raw(UInt32(clamping: length)) + Self.raw(type) + Self.raw(flags) + Self.raw(sequence)
            + Self.raw(UInt32(0)) + body + attributes
    }
}

extension NetlinkRequest {
    private static func links(isStrict: Bool) -> NetlinkRequest {
        let withoutStatistics: UInt32 = 8
        return NetlinkRequest(
            subject: "links", type: NetlinkType.getLink, body: zeros(16),
            attributes: isStrict ? attribute(NetlinkAttributeType.linkExtensionMask, raw(withoutStatistics)) : [])
    }

    private static func addresses(_ family: NetworkFamily) -> NetlinkRequest {
        NetlinkRequest(subject: "addresses", type: NetlinkType.getAddress, body: [family.number] + zeros(7))
    }

    private static func routes(_ family: NetworkFamily, isStrict: Bool) -> [NetlinkRequest] {
        guard isStrict else {
            return [NetlinkRequest(subject: "routes", type: NetlinkType.getRoute, body: [family.number] + zeros(11))]
        }
        // IPv6 has no rule for the table `default`.
        let tables: [UInt8] = family == .ipv4 ? [254, 253] : [254]
        return tables.map { table in
            NetlinkRequest(
                subject: "routes", type: NetlinkType.getRoute,
                body: [family.number, 0, 0, 0, table, 0, 0, 0] + zeros(4))
        }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static func raw(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }

    /// The sizes of all values are multiples of the alignment.
    private static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        raw(UInt16(clamping: value.count + 4)) + raw(type) + value
    }
}

private enum RouteRequestFlag {
    /// `RTM_F_LOOKUP_TABLE`: the reply has the number of the table.
    static let table: UInt32 = 0x1000
    /// `RTM_F_FIB_MATCH`: the reply is the route in its table.
    static let match: UInt32 = 0x2000
}
