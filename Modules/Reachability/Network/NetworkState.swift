/// What the kernel told about links, addresses and default routes.
///
/// Dumps are what it is made of. Notifications are only hints that a new dump is due: the kernel removes IPv4 routes
/// without a word when their link or their source address goes, so a model kept by notifications alone would go wrong.
struct NetworkState: Hashable, Sendable {
    private(set) var links: [Int32: NetworkLink] = [:]
    private(set) var addresses: [NetworkAddress: Bool] = [:]
    private(set) var routes: Set<NetworkRoute> = []

    /// Takes over what a dump lists.
    mutating func add(_ content: NetlinkMessage.Content) {
        if case .defaultRoute(let routes) = content {
            self.routes.formUnion(routes)
        } else {
            _ = notice(content)
        }
    }

    /// Takes a notification; true when the status may be another now, so that a dump is due.
    ///
    /// Most notifications are repetitions (router advertisements, wireless scans) and need none.
    mutating func notice(_ content: NetlinkMessage.Content) -> Bool {
        switch content {
        case .link(let update):
            let link = links[update.index]?.updated(by: update) ?? NetworkLink(update)
            return links.updateValue(link, forKey: update.index) != link
        case .linkRemoved(let index):
            return links.removeValue(forKey: index) != nil
        case .address(let address, let isUsable):
            return addresses.updateValue(isUsable, forKey: address) != isUsable
        case .addressRemoved(let address):
            return addresses.removeValue(forKey: address) != nil
        case .defaultRoute, .defaultRouteRemoved, .nexthopChanged, .overrun, .error:
            return true
        case .done, .irrelevant:
            return false
        }
    }
}
