/// A default route, or half of one, through one interface.
struct NetworkRoute: Hashable, Sendable {
    /// The part of the address space that the route covers.
    ///
    /// VPN clients often add two routes for half of the address space each (`0.0.0.0/1` and `128.0.0.0/1`). These take
    /// precedence over the default route, which stays in place.
    enum Destination: Hashable, Sendable {
        case everything
        case lowerHalf
        case upperHalf
    }

    /// A routing table that applies to lookups without marks or source addresses.
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
    /// The number of the interface; 0 when the route forwards nothing.
    var interface: Int32
    /// False for the types `blackhole`, `unreachable` and `prohibit`, which hide routes with a higher metric.
    var forwards = true
}
