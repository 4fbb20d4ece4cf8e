internal import Glibc

/// The result of the kernel's look-up of one destination.
struct KernelRoute: Hashable, Sendable {
    var family: NetworkFamily
    /// The `RTN_` number.
    var type: UInt8 = Self.unicast
    /// The prefix length of the matching route; the length of the address if the kernel does not report the route.
    var prefixLength: UInt8
    var table: UInt32
    var metric: UInt32 = 0
    /// The number of the interface; 0 for a route with several, none of which was chosen.
    var interface: Int32
    var source: [UInt8]?
    var gateway: [UInt8]?
    /// The route's own limit of the packet size, in bytes.
    var mtu: UInt32?

    static let unicast: UInt8 = 1
    static let local: UInt8 = 2
}

/// A question about routing.
struct RouteQuestion: Hashable, Sendable {
    enum Subject: Hashable, Sendable {
        /// The interface, source and gateway for packets to the destination.
        case packet
        /// The matching route in its table.
        case route
    }

    var subject = Subject.packet
    var destination: NetworkDestination
    /// The interface that the packets must use; 0 for any.
    var interface: Int32 = 0
}

/// The kernel's answer to a question about routing.
enum RouteAnswer: Hashable, Sendable {
    case route(KernelRoute)
    /// The error number of a look-up without a usable route.
    case refused(Int32)
    /// The source cannot answer the question.
    case unknown
}

/// Answers questions about routing and interfaces while a status is derived.
protocol RouteSource {
    mutating func answer(_ question: RouteQuestion) -> RouteAnswer
    mutating func facts(of link: NetworkLink) -> InterfaceFacts
}

extension ReachabilityStatus.Obstacle {
    /// Creates the obstacle for the error number of a look-up.
    init(errorNumber: Int32) {
        switch errorNumber {
        case EINVAL: self = .blackholeRoute
        case EHOSTUNREACH: self = .unreachableRoute
        case EACCES: self = .prohibitedRoute
        default: self = .noRoute
        }
    }

    /// Creates the obstacle for a route of this `RTN_` number; nil if the route forwards or delivers.
    init?(routeType: UInt8) {
        switch routeType {
        case 6: self = .blackholeRoute
        case 7: self = .unreachableRoute
        case 8: self = .prohibitedRoute
        case 9: self = .noRoute
        default: return nil
        }
    }
}
