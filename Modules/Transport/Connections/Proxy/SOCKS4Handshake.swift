internal import NIOCore

/// Asks a SOCKS 4 proxy for a connection, with the extension 4A for names. Pure.
struct SOCKS4Handshake: ProxyHandshake {
    private let request: ByteBuffer
    private var input = ByteBuffer()

    /// Nil for an IPv6 address, which the protocol cannot carry.
    init?(to target: ProxyTarget, username: String?) {
        var bytes = ByteBuffer(bytes: [4, 1])
        bytes.writeInteger(target.port)
        switch target.host {
        case .address(let address) where address.count == 4: bytes.writeBytes(address)
        case .address: return nil
        // An address that no host has announces a name.
        case .name: bytes.writeBytes([0, 0, 0, 1])
        }
        bytes.writeString(username ?? "")
        bytes.writeInteger(0 as UInt8)
        if case .name(let name) = target.host {
            bytes.writeString(name)
            bytes.writeInteger(0 as UInt8)
        }
        request = bytes
    }

    var failureAtEnd: ProxyFailure { .closed }

    func start() -> ByteBuffer { request }

    mutating func received(_ bytes: ByteBuffer) throws(ProxyFailure) -> ProxyHandshakeStep {
        input.writeImmutableBuffer(bytes)
        let start = input.readerIndex
        if let version: UInt8 = input.getInteger(at: start), version != 0 { throw .invalid("it is not SOCKS 4") }
        guard let reply: UInt8 = input.getInteger(at: start + 1) else { return .needsBytes }
        switch reply {
        case 90: break
        case 91: throw .refused(Proxy.Refusal("a refusal or a failure"))
        case 92, 93: throw .authentication([])
        default: throw .refused(Proxy.Refusal("reply \(reply)"))
        }
        // The rest is an address and a port without meaning.
        guard input.readableBytes >= 8 else { return .needsBytes }
        input.moveReaderIndex(forwardBy: 8)
        return .open(input.readSlice(length: input.readableBytes) ?? ByteBuffer())
    }
}
