import ExampleSupport
import FoundationEssentials
import LinnetReachability

/// A status as one line of text or JSON. The name of an interface can contain any character but spaces, slashes and
/// colons.
struct StatusLine: Encodable {
    var isReachable: Bool
    var obstacle: String?
    var isResolved: Bool?
    var isConfirmed: Bool?
    var kind: String?
    var underlyingKind: String?
    var interface: String?
    var sourceAddress: String?
    var gateway: String?
    var mtu: Int?
    var supportsIPv4: Bool
    var supportsIPv6: Bool
    var isExpensive: Bool

    private let description: String

    private enum CodingKeys: String, CodingKey {
        case isReachable, obstacle, isResolved, isConfirmed, kind, underlyingKind, interface, sourceAddress, gateway,
            mtu
        case supportsIPv4, supportsIPv6, isExpensive
    }

    init(_ status: ReachabilityStatus) {
        let path = status.path
        isReachable = status.isReachable
        obstacle = status.obstacle.map { "\($0)" }
        isResolved = status.isResolved
        isConfirmed = status.isConfirmed
        kind = path.map { "\($0.kind)" }
        underlyingKind = path?.underlyingKind.map { "\($0)" }
        interface = path?.interfaceName
        sourceAddress = path?.sourceAddress
        gateway = path?.gateway
        mtu = path?.mtu
        supportsIPv4 = status.supportsIPv4
        supportsIPv6 = status.supportsIPv6
        isExpensive = status.isExpensive
        description = status.description
    }

    func text(isJSON: Bool) throws -> String {
        guard isJSON else {
            let route = [sourceAddress.map { "from \($0)" }, gateway.map { "by \($0)" }].compactMap { $0 }
            return OneLine.text(([description] + route).joined(separator: ", "))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return TerminalJSON.text(String(decoding: try encoder.encode(self), as: UTF8.self))
    }
}
