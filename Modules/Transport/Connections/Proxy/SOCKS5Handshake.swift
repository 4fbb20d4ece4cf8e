internal import NIOCore

/// Asks a SOCKS 5 proxy for a connection (RFC 1928), with a user name and a password if there are any (RFC 1929). Pure.
struct SOCKS5Handshake: ProxyHandshake {
    private enum Phase {
        case method
        case authentication
        case reply
    }

    private static let version: UInt8 = 5

    private let target: ProxyTarget
    private let login: (user: String, password: String)?
    private var phase = Phase.method
    private var input = ByteBuffer()

    init(to target: ProxyTarget, through proxy: Proxy) {
        self.target = target
        login = proxy.hasCredentials ? (proxy.username ?? "", proxy.password ?? "") : nil
    }

    var failureAtEnd: ProxyFailure { .closed }

    /// The methods: none, and a user name with a password.
    func start() -> ByteBuffer {
        ByteBuffer(bytes: login == nil ? [Self.version, 1, 0] : [Self.version, 2, 0, 2])
    }

    mutating func received(_ bytes: ByteBuffer) throws(ProxyFailure) -> ProxyHandshakeStep {
        input.writeImmutableBuffer(bytes)
        switch phase {
        case .method: return try receivedMethod()
        case .authentication: return try receivedStatus()
        case .reply: return try receivedReply()
        }
    }

    private mutating func receivedMethod() throws(ProxyFailure) -> ProxyHandshakeStep {
        guard let (version, method) = input.readMultipleIntegers(as: (UInt8, UInt8).self) else {
            return try waiting(for: Self.version)
        }
        guard version == Self.version else { throw .invalid("it is not SOCKS 5") }
        switch (method, login) {
        case (0, _):
            return request()
        case (2, let login?):
            phase = .authentication
            var bytes = ByteBuffer(bytes: [1, UInt8(truncatingIfNeeded: login.user.utf8.count)])
            bytes.writeString(login.user)
            bytes.writeInteger(UInt8(truncatingIfNeeded: login.password.utf8.count))
            bytes.writeString(login.password)
            return .send(bytes)
        case (0xFF, nil), (2, nil): throw .authentication([])
        case (0xFF, _): throw .refused(Proxy.Refusal("it does not take a user name with a password"))
        default: throw .invalid("it chose a method of authentication that was not offered")
        }
    }

    private mutating func receivedStatus() throws(ProxyFailure) -> ProxyHandshakeStep {
        guard let (_, status) = input.readMultipleIntegers(as: (UInt8, UInt8).self) else { return .needsBytes }
        guard status == 0 else { throw .authentication([]) }
        return request()
    }

    private mutating func request() -> ProxyHandshakeStep {
        phase = .reply
        var bytes = ByteBuffer(bytes: [Self.version, 1, 0])
        switch target.host {
        case .name(let name):
            bytes.writeInteger(3 as UInt8)
            bytes.writeInteger(UInt8(truncatingIfNeeded: name.utf8.count))
            bytes.writeString(name)
        case .address(let address):
            bytes.writeInteger((address.count == 4 ? 1 : 4) as UInt8)
            bytes.writeBytes(address)
        }
        bytes.writeInteger(target.port)
        return .send(bytes)
    }

    private mutating func receivedReply() throws(ProxyFailure) -> ProxyHandshakeStep {
        let start = input.readerIndex
        guard let (version, reply) = input.getMultipleIntegers(at: start, as: (UInt8, UInt8).self) else {
            return try waiting(for: Self.version)
        }
        guard version == Self.version else { throw .invalid("it is not SOCKS 5") }
        // Checked first: a refusal need not have a valid address.
        guard reply == 0 else { throw .refused(Proxy.Refusal(Self.reason(reply))) }
        guard let type: UInt8 = input.getInteger(at: start + 3), let first: UInt8 = input.getInteger(at: start + 4)
        else { return .needsBytes }
        let length: Int
        switch type {
        case 1: length = 4
        case 3: length = 1 + Int(first)
        case 4: length = 16
        default: throw .invalid("its address is of an unknown type")
        }
        guard input.readableBytes >= 4 + length + 2 else { return .needsBytes }
        input.moveReaderIndex(forwardBy: 4 + length + 2)
        return .open(input.readSlice(length: input.readableBytes) ?? ByteBuffer())
    }

    /// Detects another protocol with its first byte.
    private func waiting(for version: UInt8) throws(ProxyFailure) -> ProxyHandshakeStep {
        let first: UInt8? = input.getInteger(at: input.readerIndex)
        guard first == nil || first == version else { throw .invalid("it is not SOCKS 5") }
        return .needsBytes
    }

    /// RFC 1928, 6.
    private static func reason(_ reply: UInt8) -> String {
        switch reply {
        case 1: "a general failure"
        case 2: "its rules do not allow the connection"
        case 3: "the network cannot be reached"
        case 4: "the host cannot be reached"
        case 5: "the server refused the connection"
        case 6: "the time to live expired"
        case 7: "it does not support the command"
        case 8: "it does not support the type of address"
        default: "reply \(reply)"
        }
    }
}
