import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes

/// The connections of clients: each has a task, which runs on the connection's event loop if the upstream has an
/// executor for it, and which is cancelled once the client has gone. The task's requests to the upstream end with it.
struct ClientConnections: ServerChildChannel {
    private let http1: HTTP1Channel
    private let executors: [ObjectIdentifier: any TaskExecutor]

    init(
        _ responder: @escaping HTTPChannelHandler.Responder, _ settings: GatewaySettings,
        executors: [ObjectIdentifier: any TaskExecutor]
    ) {
        let bodyLimit = settings.maximumBodySize
        let limits = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: settings.maximumHeadSize, maxHeaderListSize: settings.maximumHeadSize,
            maxHeaderFieldCount: 100)
        http1 = HTTP1Channel(
            responder: responder,
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [ClientConnectionHandler(limit: bodyLimit)], idleTimeout: .seconds(60),
                httpDecoderConfiguration: limits))
        self.executors = executors
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http1.setup(channel: channel, logger: logger)
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        let executor = executors[ObjectIdentifier(value.channel.eventLoop)]
        let task = Task(executorPreference: executor) { await http1.handle(value: value, logger: logger) }
        value.channel.closeFuture.whenComplete { _ in task.cancel() }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

/// Closes a connection whose client has closed its side, and after a response with `Connection: close`. Answers a
/// client that waits for the consent to its content (RFC 9110, section 10.1.1).
///
/// A client that only ends its sending cannot be told from one that has gone. Both count as gone, as in other gateways.
private final class ClientConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let limit: Int
    private var isLast = false
    private var requests = 0

    init(limit: Int) { self.limit = limit }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) {
            requests += 1
            // Only the first of pipelined requests, whose response has not begun.
            if requests == 1, head.headerFields[.expect]?.lowercased() == "100-continue",
                head.headerFields[.contentLength].flatMap({ Int($0) }) ?? 0 <= limit
            {
                context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
            }
        }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if case .some(.inputClosed) = event as? ChannelEvent { context.close(promise: nil) }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        if case .end = part { requests -= 1 }
        switch part {
        case .head(let head):
            isLast = isLast || head.headerFields[.connection] == "close"
            context.write(data, promise: promise)
        case .end where isLast:
            context.writeAndFlush(data, promise: promise)
            context.close(promise: nil)
        case .body, .end:
            context.write(data, promise: promise)
        }
    }
}
