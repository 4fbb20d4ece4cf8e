internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// One connection's question for a name, as NIO's happy eyeballs (RFC 8305) asks it: by family.
///
/// Both families come from one answer; which address is tried first is not decided here.
final class NameLookup: Resolver, Sendable {
    private let names: NameCache
    private let v4: EventLoopPromise<[SocketAddress]>
    private let v6: EventLoopPromise<[SocketAddress]>
    private let times = Mutex<TransportMetrics.Span?>(nil)

    init(_ names: NameCache, on eventLoop: any EventLoop) {
        self.names = names
        v4 = eventLoop.makePromise()
        v6 = eventLoop.makePromise()
    }

    /// When the look-up ran, once it is over; nil when the answer was at hand.
    var span: TransportMetrics.Span? { times.withLock { $0 } }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        v4.futureResult
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        let start = ContinuousClock.now
        let known = names.lookUp(host) { [self] answer in
            times.withLock { $0 = TransportMetrics.Span(start: start, end: .now) }
            complete(answer, port)
        }
        if let known { complete(known, port) }
        return v6.futureResult
    }

    func cancelQueries() {
        // getaddrinfo cannot be called back; whoever asked has stopped waiting.
    }

    private func complete(_ answer: NameAnswer, _ port: Int) {
        v6.completeWith(answer.addresses(.inet6, port: port))
        v4.completeWith(answer.addresses(.inet, port: port))
    }
}
