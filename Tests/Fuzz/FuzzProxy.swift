// Testable: Transport
import LinnetMessages
import NIOCore

@testable import LinnetTransport

/// Answers a handshake with the input, once whole and once in pieces, with equal results; and reads the input as the
/// URL of a proxy and as a list of exceptions. The first byte determines the kind of the proxy and the size of the
/// pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProxy(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 1, let origin = Origin("https://origin.example") else { return 0 }
    let bytes = ByteBuffer(bytes: UnsafeBufferPointer(start: data + 1, count: count - 1))
    let size = Int(data[0] >> 3) + 1
    let pieces = stride(from: 0, to: bytes.readableBytes, by: size).compactMap {
        bytes.getSlice(at: $0, length: min(size, bytes.readableBytes - $0))
    }
    guard let handshake = handshake(data[0] & 7, origin) else { return 0 }
    let (whole, parts) = (Outcome(handshake, [bytes]), Outcome(handshake, pieces))
    // A SOCKS proxy answers in turn, so that a whole answer at once is cut after its first message.
    guard whole == parts || whole.isWaiting else { fatalError("The end depends on the size of the pieces.") }
    let text = String(buffer: bytes)
    if let proxy = try? Proxy(text) {
        guard let again = try? Proxy(proxy.description), again.server == proxy.server, again.kind == proxy.kind else {
            fatalError("\(proxy) is another proxy.")
        }
    }
    let exceptions = ProxyExceptions(list: text)
    for authority in ["origin.example", "192.0.2.1", "[2001:db8::1]:8443"] {
        if let origin = Origin("https://" + authority) { _ = exceptions.contain(origin) }
    }
    return 0
}

private func handshake(_ kind: UInt8, _ origin: Origin) -> (any ProxyHandshake)? {
    var limits = TransportConfiguration.ResponseLimits()
    (limits.headBytes, limits.headFields) = (2000, 20)
    switch kind {
    case 0, 1, 2:
        return TunnelHandshake(to: origin, answer: ProxyAnswer(authorization: "Basic YWRhOmI="), limits: limits)
    case 3, 4:
        return (try? Proxy("socks5h://proxy.example")).map { SOCKS5Handshake(to: ProxyTarget(origin), through: $0) }
    case 5, 6:
        return (try? Proxy("socks5h://ada:b@proxy.example")).map {
            SOCKS5Handshake(to: ProxyTarget(origin), through: $0)
        }
    default: return SOCKS4Handshake(to: ProxyTarget(origin), username: "ada")
    }
}

/// The end of a handshake.
private struct Outcome: Equatable {
    private var opened: ByteBuffer?
    private var failure: ProxyFailure?

    var isWaiting: Bool { opened == nil && failure == nil }

    init(_ handshake: any ProxyHandshake, _ pieces: [ByteBuffer]) {
        var handshake = handshake
        _ = handshake.start()
        for piece in pieces {
            if opened != nil {
                opened?.writeImmutableBuffer(piece)
                continue
            }
            do {
                if case .open(let first) = try handshake.received(piece) { opened = first }
            } catch {
                // The named rule depends on the bytes that have arrived by then.
                failure = if case .invalid = error { .invalid("") } else { error }
                return
            }
        }
        // Bytes after a refusal's head may arrive later.
        if opened == nil, case .refused(let refusal) = handshake.failureAtEnd { failure = .refused(refusal) }
    }
}
