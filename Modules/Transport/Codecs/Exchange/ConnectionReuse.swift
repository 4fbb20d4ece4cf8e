internal import NIOCore

/// Tells the handlers below whether to keep the memory that each exchange needs, about 34 KB over TLS.
///
/// A connection whose first request may stay its only one does not keep it. Neither does HTTP/2 for its SETTINGS and
/// PINGs, since a connection that is idle may exchange them for hours.
struct ConnectionReuse {
    private var isAnnounced = false

    /// Called before an exchange is sent.
    mutating func announce(_ exchange: HTTPExchange, in context: ChannelHandlerContext) {
        guard exchange.metrics.isReusedConnection, !isAnnounced else { return }
        isAnnounced = true
        context.triggerUserOutboundEvent(ConnectionIsReused(), promise: nil)
    }

    /// Called when the connection has been idle for a while.
    mutating func rest(in context: ChannelHandlerContext) {
        isAnnounced = false
        context.triggerUserOutboundEvent(ConnectionRests(), promise: nil)
    }
}

/// Sent outbound when a connection gets another request, once until it rests: handlers keep memory for the next ones.
struct ConnectionIsReused {}

/// Sent outbound when a connection has been idle for a while: handlers free the memory that they can allocate again.
struct ConnectionRests {}
