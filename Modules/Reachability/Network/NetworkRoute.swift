/// A default route, or half of one, over one interface.
struct NetworkRoute: Hashable, Sendable {
    /// What the route covers.
    ///
    /// VPN clients often lay two routes of half the address space (`0.0.0.0/1` and `128.0.0.0/1`) over the default route,
    /// which they win against and leave in place.
    enum Destination: Hashable, Sendable {
        case everything
        case lowerHalf
        case upperHalf
    }

    /// A routing table that a look-up without marks or source addresses sees.
    enum Table: Hashable, Sendable {
        case main
        case `default`

        init?(_ number: UInt32) {
            switch number {
            case 254: self = .main
            case 253: self = .default
            default: return nil
            }
        }
    }

    var family: NetworkFamily
    var destination: Destination
    var table: Table
    var metric: UInt32
    var interface: Int32
}
