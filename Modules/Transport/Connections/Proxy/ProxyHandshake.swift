internal import LinnetMessages
internal import NIOCore

/// The exchange with a proxy before a connection through it belongs to the origin. Pure.
protocol ProxyHandshake {
    /// The first bytes to send.
    mutating func start() -> ByteBuffer
    /// Takes received bytes.
    mutating func received(_ bytes: ByteBuffer) throws(ProxyFailure) -> ProxyHandshakeStep
    /// The failure if the connection ends now.
    var failureAtEnd: ProxyFailure { get }
}

enum ProxyHandshakeStep: Equatable {
    case needsBytes
    case send(ByteBuffer)
    /// The rest of the connection is the origin's, and these are its first bytes.
    case open(ByteBuffer)
}

/// Why there is no connection through a proxy.
enum ProxyFailure: Error, Equatable {
    /// The proxy closed the connection before its answer was complete.
    case closed
    /// The answer is not in the proxy's protocol; the problem, as the end of a sentence.
    case invalid(String)
    /// The proxy refused.
    case refused(Proxy.Refusal)
    /// The proxy requires a user name, or refused the given one; with the values of Proxy-Authenticate and the refused
    /// answer.
    case authentication([String], after: ProxyAnswer = ProxyAnswer())
}

/// The destination of a proxy's connection.
struct ProxyTarget: Equatable, Sendable {
    enum Host: Equatable, Sendable {
        case name(String)
        /// 4 or 16 bytes.
        case address([UInt8])
    }

    let host: Host
    let port: UInt16

    /// The origin in the spelling of the request: a name stays a name.
    init(_ origin: Origin) {
        if case .address(let bytes) = HostName(origin.host) {
            host = .address(bytes)
        } else {
            host = .name(origin.host)
        }
        port = UInt16(truncatingIfNeeded: origin.port)
    }

    /// One of the addresses of the origin; nil for an invalid IP address.
    init?(_ address: SocketAddress, port: Int) {
        guard let text = address.ipAddress, case .address(let bytes) = HostName(text) else { return nil }
        host = .address(bytes)
        self.port = UInt16(truncatingIfNeeded: port)
    }
}

extension ProxyFailure {
    /// A proof in Proxy-Authentication-Info that does not match the password (RFC 7616, 3.5).
    static let wrongProof = ProxyFailure.invalid("its proof that it knows the password (rspauth) is wrong")
}
