internal import NIOCore

/// Determines the HTTP version of a connection: by ALPN over TLS, otherwise by its first bytes.
///
/// It stays in the pipeline and forwards everything once the version is known.
final class VersionSelector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    enum Version {
        case http1
        case http2
    }

    /// The connection preface of an HTTP/2 client (RFC 9113, 3.4).
    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    private let isTLS: Bool
    private let chosen: InboundQueue<NegotiatedProtocol>
    private let install: (Version) throws -> NegotiatedProtocol
    private var isDecided = false
    private var held = ByteBuffer()

    /// - Parameters:
    ///   - chosen: Receives the result of `install`, or the end of the connection.
    ///   - install: Adds the handlers of a version to the end of the pipeline.
    init(
        isTLS: Bool, chosen: InboundQueue<NegotiatedProtocol>,
        install: @escaping (Version) throws -> NegotiatedProtocol
    ) {
        self.isTLS = isTLS
        self.chosen = chosen
        self.install = install
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDecided else { return context.fireChannelRead(data) }
        held.writeImmutableBuffer(unwrapInboundIn(data))
        guard !isTLS, let version = version(of: held.readableBytesView) else { return }
        decide(version, context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted(let handshake)? = event as? TLSServerEvent, !isDecided {
            decide(handshake.applicationProtocol == "h2" ? .http2 : .http1, context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        chosen.finish()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        chosen.finish()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if isDecided { context.fireErrorCaught(error) } else { chosen.finish(error) }
    }

    /// The version that the first bytes indicate; nil when more bytes are needed.
    private func version(of bytes: ByteBufferView) -> Version? {
        let count = min(bytes.count, Self.preface.count)
        guard bytes.prefix(count).elementsEqual(Self.preface.prefix(count)) else { return .http1 }
        return count == Self.preface.count ? .http2 : nil
    }

    private func decide(_ version: Version, _ context: ChannelHandlerContext) {
        isDecided = true
        do {
            chosen.push(try install(version))
        } catch {
            chosen.finish(error)
            return context.close(promise: nil)
        }
        let bytes = held
        held = ByteBuffer()
        if bytes.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(bytes)) }
    }
}
