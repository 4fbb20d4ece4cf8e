internal import LinnetMessages
internal import NIOCore
internal import Synchronization

/// Confines all transports of the process to loopback addresses and unix sockets while a test asks for it.
///
/// A connection to another address is not made, and another name than `localhost` is not looked up: both fail, and each
/// confinement in force records them. Without a confinement, a look-up and a connection each cost the relaxed read of
/// one atomic.
package struct LoopbackConfinement: Sendable {
    private struct State {
        /// The confinements in force, each with what was refused since it began.
        var refused: [UInt64: [String]] = [:]
        var last: UInt64 = 0
    }

    private static let state = Mutex(State())
    /// The number of confinements in force.
    private static let count = Atomic(0)

    private let number: UInt64

    /// Begins a confinement, which is in force until it is ended.
    package static func begin() -> LoopbackConfinement {
        count.add(1, ordering: .relaxed)
        return state.withLock { state in
            state.last += 1
            state.refused[state.last] = []
            return LoopbackConfinement(number: state.last)
        }
    }

    /// Ends the confinement.
    ///
    /// - Returns: The refused connections and look-ups since its beginning, each once, in order.
    package func end() -> [String] {
        guard let refused = Self.state.withLock({ $0.refused.removeValue(forKey: number) }) else { return [] }
        Self.count.subtract(1, ordering: .relaxed)
        return refused
    }

    /// The error of a connection that must not be made; nil if it may be.
    ///
    /// - Parameters:
    ///   - address: The address to connect to.
    ///   - server: The host and port that has the address.
    static func refusal(
        ofConnectingTo address: SocketAddress, of server: @autoclosure () -> String
    ) -> TransportError? {
        guard count.load(ordering: .relaxed) > 0, !address.isOnThisMachine else { return nil }
        let server = server()
        let ip = address.ipAddress ?? "\(address)"
        let place = server.contains(ip) ? server : "\(server) at \(ip)"
        return refusal(of: "a connection to \(place)", .connectionFailed)
    }

    /// The error of a look-up that must not be made; nil if it may be.
    static func refusal(ofLookingUp host: String) -> TransportError? {
        guard count.load(ordering: .relaxed) > 0, !isLocalhost(host) else { return nil }
        return refusal(of: "a look-up of \"\(host)\"", .nameResolutionFailed)
    }

    private static func refusal(of what: String, _ code: TransportError.Code) -> TransportError {
        state.withLock { state in
            for number in state.refused.keys where state.refused[number]?.contains(what) == false {
                state.refused[number]?.append(what)
            }
        }
        return TransportError(code, "The process is confined to loopback addresses, which excludes \(what).")
    }

    /// Whether a name is `localhost` or below it, which no name server is asked for (RFC 6761, 6.3).
    private static func isLocalhost(_ host: String) -> Bool {
        guard case .name(let name) = HostName(host) else { return false }
        return name == "localhost" || name.hasSuffix(".localhost")
    }
}

extension SocketAddress {
    /// Whether the address is a unix socket, a loopback address, or an unspecified one, which systems connect to
    /// themselves.
    fileprivate var isOnThisMachine: Bool {
        if case .unixDomainSocket = self { return true }
        guard let ipAddress, case .address(let bytes) = HostName(ipAddress) else { return false }
        let isUnspecified = bytes.allSatisfy { $0 == 0 }
        return switch bytes.count {
        case 4: bytes[0] == 127 || isUnspecified
        default: isUnspecified || bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        }
    }
}
