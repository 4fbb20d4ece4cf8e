// Testable: Reachability
@testable import LinnetReachability

/// Reads the input as messages of the kernel: as a part of a dump, as notifications, and as the reply to a look-up.
/// Their length limits their contents, and any contents lead to a status.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzNetlink(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = [UInt8](UnsafeBufferPointer(start: data, count: count))[...]
    let datagram = NetlinkDatagram(bytes)
    guard datagram.messages.count * 16 <= count else {
        fatalError("\(count) bytes have \(datagram.messages.count) messages.")
    }
    var listed = NetworkState()
    var dump = NetlinkDump(sequence: 0)
    _ = dump.receive(datagram, into: &listed)
    var noticed = NetworkState()
    for message in datagram.messages { _ = noticed.notice(message.content) }
    var routes = AnyReply(answer: RouteReply.answer(in: bytes, sequence: 0, port: 0) ?? .unknown)
    for state in [listed, noticed] {
        guard state.links.count + state.addresses.count + state.routes.count <= count else {
            fatalError("\(count) bytes have more objects.")
        }
        let evaluator = StatusEvaluator(state: state)
        check(evaluator.networkStatus(&routes))
        check(evaluator.status(of: NetworkDestination(family: .ipv4, bytes: [192, 0, 2, 1]), &routes))
    }
    return 0
}

/// Answers each question with the same reply.
private struct AnyReply: RouteSource {
    var answer: RouteAnswer

    mutating func answer(_ question: RouteQuestion) -> RouteAnswer { answer }
    mutating func facts(of link: NetworkLink) -> InterfaceFacts { InterfaceFacts() }
}

private func check(_ status: ReachabilityStatus) {
    guard status.isKnown, status.isReachable == (status.kind != nil), !status.description.isEmpty else {
        fatalError("\(status) contradicts itself.")
    }
    for address in [status.path?.sourceAddress, status.path?.gateway] {
        guard let address else { continue }
        guard NetworkDestination(address) != nil else { fatalError("\(address) is no address.") }
    }
}
