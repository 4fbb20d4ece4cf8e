import Glibc
import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(1))) struct StatusEvaluatorTests {
    private let sample = NetworkDestination(family: .ipv4, bytes: [192, 0, 2, 1])
    private let other = NetworkDestination(family: .ipv4, bytes: [198, 41, 0, 4])

    /// An Ethernet interface with a default route, and a tunnel that is up.
    private func state(tunnelKind: String = "wireguard", lower: Int32? = nil) -> NetworkState {
        var state = NetworkState()
        state.add(.link(.init(index: 2, hardwareType: 1, flags: 0x41, name: "eth0", operationalState: 6, mtu: 1500)))
        state.add(
            .link(
                .init(
                    index: 3, hardwareType: 0xFFFE, flags: 0x41, name: "vpn", driverKind: tunnelKind, mtu: 1420,
                    lower: lower)))
        state.add(.link(.init(index: 4, hardwareType: 1, flags: 0x41, name: "wwan0", operationalState: 6)))
        state.add(.address(.init(family: .ipv4, interface: 2, scope: 0, bytes: [10, 9, 0, 2]), isUsable: true))
        state.add(
            .defaultRoute([NetworkRoute(family: .ipv4, destination: .everything, table: .main, metric: 0, interface: 2)]
            ))
        return state
    }

    private func match(_ table: UInt32, interface: Int32, prefixLength: UInt8 = 0) -> RouteAnswer {
        .route(KernelRoute(family: .ipv4, prefixLength: prefixLength, table: table, interface: interface))
    }

    private func packet(interface: Int32) -> RouteAnswer {
        .route(
            KernelRoute(
                family: .ipv4, prefixLength: 32, table: 77, interface: interface, source: [10, 9, 0, 2],
                gateway: [10, 9, 0, 1], mtu: nil))
    }

    @Test func aDefaultRouteOfAPolicyRulePrecedesTheMainTable() {
        var routes = ScriptedRoutes(answers: [
            RouteQuestion(subject: .route, destination: sample): match(51_820, interface: 3),
            RouteQuestion(destination: sample): packet(interface: 3),
        ])
        let status = StatusEvaluator(state: state()).networkStatus(&routes)
        #expect(status.description == "reachable via tunnel (vpn, over ethernet, IPv4)")
        #expect(status.path?.mtu == 1420)
    }

    @Test func aRouteOfTheSampleAloneDoesNotCount() {
        var routes = ScriptedRoutes(answers: [
            RouteQuestion(subject: .route, destination: sample): match(51_820, interface: 3, prefixLength: 24),
            RouteQuestion(subject: .route, destination: other): match(254, interface: 2),
            RouteQuestion(destination: other, interface: 2): packet(interface: 2),
        ])
        let status = StatusEvaluator(state: state()).networkStatus(&routes)
        #expect(status.interfaceName == "eth0")
        #expect(status.path?.gateway == "10.9.0.1")
        #expect(status.path?.sourceAddress == "10.9.0.2")
    }

    @Test func aRefusalOfOneSampleIsNotARefusalOfAll() {
        let question = RouteQuestion(subject: .route, destination: sample)
        var some = ScriptedRoutes(answers: [question: .refused(EINVAL)])
        #expect(StatusEvaluator(state: state()).networkStatus(&some).isReachable)
        var all = ScriptedRoutes(answers: [
            question: .refused(EINVAL), RouteQuestion(subject: .route, destination: other): .refused(EACCES),
        ])
        #expect(StatusEvaluator(state: state()).networkStatus(&all) == .notReachable)
    }

    @Test func aSourceWithoutAnswersLeavesTheDefaultRoutes() {
        let status = state().status()
        #expect(status.description == "reachable via ethernet (eth0, IPv4)")
        #expect(status.path?.sourceAddress == nil)
        #expect(status.path?.mtu == 1500)
    }

    @Test func aTunnelOverAModemIsExpensive() {
        var routes = ScriptedRoutes(answers: [RouteQuestion(destination: sample): packet(interface: 3)])
        let status = StatusEvaluator(state: state(tunnelKind: "gre", lower: 4)).status(of: sample, &routes)
        #expect(status.path?.underlyingKind == .cellular)
        #expect(status.isExpensive)
    }

    @Test func interfacesAreExpensiveAndConstrainedByConfiguration() {
        var routes = ScriptedRoutes(answers: [RouteQuestion(destination: sample): packet(interface: 2)])
        let evaluator = StatusEvaluator(
            state: state(), expensiveInterfaces: ["eth0"], constrainedInterfaces: ["eth0", "vpn"])
        let path = evaluator.status(of: sample, &routes).path
        #expect(path?.isExpensive == true)
        #expect(path?.isConstrained == true)
    }

    @Test(arguments: [
        (EINVAL, ReachabilityStatus.Obstacle.blackholeRoute), (EHOSTUNREACH, .unreachableRoute),
        (EACCES, .prohibitedRoute), (ENETUNREACH, .noRoute),
    ])
    func theErrorOfALookUpIsTheObstacle(number: Int32, obstacle: ReachabilityStatus.Obstacle) {
        var routes = ScriptedRoutes(answers: [RouteQuestion(destination: sample): .refused(number)])
        let status = StatusEvaluator(state: state()).status(of: sample, &routes)
        #expect(!status.isReachable && status.isKnown)
        #expect(status.obstacle == obstacle)
        #expect(status.description == "not reachable (\(obstacle))")
    }

    @Test func aHostIsReachableByItsFirstAddressWithARoute() {
        var routes = ScriptedRoutes(answers: [
            RouteQuestion(destination: sample): .refused(ENETUNREACH),
            RouteQuestion(destination: other): packet(interface: 2),
        ])
        let evaluator = StatusEvaluator(state: state())
        let status = evaluator.status(of: [sample, other], isResolved: true, &routes)
        #expect(status.interfaceName == "eth0")
        #expect(status.supportsIPv4 && !status.supportsIPv6)
        let none = evaluator.status(of: [sample], isResolved: true, &routes)
        #expect(none.obstacle == .noRoute)
        #expect(none.isResolved == true)
    }

    @Test func anInterfaceThatIsDownIsTheObstacleUnlessTheAddressIsOwn() {
        var state = NetworkState()
        state.add(.link(.init(index: 1, hardwareType: 772, flags: 0x8, name: "lo")))
        var local = KernelRoute(family: .ipv4, prefixLength: 32, table: 255, interface: 1, source: [127, 0, 0, 1])
        var routes = ScriptedRoutes(answers: [RouteQuestion(destination: sample): .route(local)])
        #expect(StatusEvaluator(state: state).status(of: sample, &routes).obstacle == .linkDown)
        local.type = KernelRoute.local
        routes = ScriptedRoutes(answers: [RouteQuestion(destination: sample): .route(local)])
        #expect(StatusEvaluator(state: state).status(of: sample, &routes).kind == .loopback)
    }
}
