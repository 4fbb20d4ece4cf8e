internal import Glibc

/// Reads the network without netlink, at an interval: interfaces by `ioctl`, routes and IPv6 addresses from `/proc`.
///
/// The kernel also answers for one address: connecting a UDP socket looks up the route and sends nothing.
struct PollingSource: NetworkSource {
    let interval: Duration?
    private let socket: QuerySocket
    private var state = NetworkState()
    private var facts: [Int32: InterfaceFacts] = [:]

    init(interval: Duration) throws(ReachabilityError) {
        self.interval = interval
        socket = try QuerySocket()
    }

    var descriptor: Int32? { nil }
    var hasPendingChanges: Bool { false }

    mutating func receiveChanges(into state: inout NetworkState) -> NetworkChange { .nothing }

    mutating func read() throws(ReachabilityError) -> NetworkState {
        guard let names = ProcNetwork.interfaceNames() else {
            throw ReachabilityError(.queryFailed, "The list of interfaces in /proc/net/dev cannot be read")
        }
        var contents: [NetlinkMessage.Content] = []
        var indices: [String: Int32] = [:]
        for name in names {
            guard let link = socket.link(named: name) else { continue }
            indices[name] = link.index
            contents.append(.link(link))
            if let bytes = socket.ipv4Address(ofInterface: name) {
                let scope: UInt8 = bytes.first == 127 ? 254 : 0
                let address = NetworkAddress(family: .ipv4, interface: link.index, scope: scope, bytes: bytes)
                contents.append(.address(address, isUsable: true))
            }
        }
        contents += ProcNetwork.ipv6Addresses()
        contents.append(.defaultRoute(ProcNetwork.routes(indices)))
        state = NetworkState()
        for content in contents { state.add(content) }
        return state
    }

    mutating func answer(_ question: RouteQuestion) -> RouteAnswer {
        // Without netlink, the matching route is unknown, and an interface cannot be chosen for IPv4.
        guard question.subject == .packet, question.interface == 0 || question.destination.family == .ipv6 else {
            return .unknown
        }
        switch QuerySocket.source(for: question) {
        case .failure(let error): return .refused(error.number)
        case .success(let bytes):
            let isOwn = bytes == question.destination.bytes
            let owner = isOwn ? state.loopback : state.interface(withAddress: bytes)
            guard let interface = owner else { return .unknown }
            return .route(
                KernelRoute(
                    family: question.destination.family, type: isOwn ? KernelRoute.local : KernelRoute.unicast,
                    prefixLength: UInt8(clamping: bytes.count * 8), table: 0, interface: interface, source: bytes))
        }
    }

    mutating func facts(of link: NetworkLink) -> InterfaceFacts {
        if let known = facts[link.index] { return known }
        let read = InterfaceFacts.read(for: link)
        facts[link.index] = read
        return read
    }

    mutating func forget() { facts.removeAll(keepingCapacity: true) }
}
