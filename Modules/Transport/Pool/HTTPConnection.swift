internal import LinnetSecurity
internal import NIOCore
internal import Synchronization

/// One connection to an origin: what it is, and the way onto its event loop.
final class HTTPConnection: Sendable, Identifiable {
    let id: UInt64
    let key: PoolKey
    private let channel: any Channel
    private let handler: NIOLoopBound<HTTP1Handler>
    /// What opening it cost and agreed on; each exchange's metrics begin as a copy.
    private let opening: TransportMetrics
    private let exchanges = Atomic(0)

    init(
        id: UInt64, key: PoolKey, channel: any Channel, handler: NIOLoopBound<HTTP1Handler>, opening: TransportMetrics
    ) {
        self.id = id
        self.key = key
        self.channel = channel
        self.handler = handler
        self.opening = opening
    }

    var isOpen: Bool { channel.isActive }

    /// Runs one exchange; the caller has leased the connection.
    func run(
        _ request: TransportRequest, observer: (any TransportObserver)?, timeouts: TransportTimeouts,
        deadline: NIODeadline?, queue: TransportMetrics.Span
    ) async -> HTTP1Exchange.Outcome {
        let isReused = exchanges.add(1, ordering: .relaxed).oldValue > 0
        let exchange = HTTP1Exchange(
            request: request, observer: observer, timeouts: timeouts, deadline: deadline,
            isReusedConnection: isReused, metrics: metrics(isReused: isReused, queue: queue))
        return await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                exchange.waiter = continuation
                handler.execute { $0.start(exchange) }
            }
        } onCancel: {
            exchange.isCancelled.store(true, ordering: .releasing)
            handler.execute { $0.cancel(exchange, .readerCancelled) }
        }
    }

    /// Closes the connection; an exchange that runs on it fails.
    func close(_ error: TransportError) {
        handler.execute { $0.shutDown(error) }
    }

    private func metrics(isReused: Bool, queue: TransportMetrics.Span) -> TransportMetrics {
        var metrics = opening
        if isReused {
            metrics.nameResolution = nil
            metrics.connect = nil
            metrics.tlsHandshake = nil
        }
        metrics.isReusedConnection = isReused
        metrics.start = queue.start
        metrics.queue = queue
        return metrics
    }
}

extension NIOLoopBound {
    /// Runs at once on the value's event loop, or else as soon as the loop comes to it.
    func execute(_ body: @escaping @Sendable (Value) -> Void) {
        if eventLoop.inEventLoop {
            body(value)
        } else {
            eventLoop.execute { body(value) }
        }
    }
}
