internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// One connection's question for a name, as NIO's happy eyeballs (RFC 8305) asks it: by family.
///
/// Both families come from one answer; which address is tried first is decided here only where some were tried before.
final class NameLookup: Resolver, Sendable {
    private let names: NameCache
    private let tried: [SocketAddress]
    private let v4: EventLoopPromise<[SocketAddress]>
    private let v6: EventLoopPromise<[SocketAddress]>
    private let times = Mutex<TransportMetrics.Span?>(nil)

    /// `tried` are addresses that are tried last, since they were of no use.
    init(_ names: NameCache, tried: [SocketAddress] = [], on eventLoop: any EventLoop) {
        self.names = names
        self.tried = tried
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
        guard tried.isEmpty else { return complete(ordered: answer, port) }
        v6.completeWith(answer.addresses(.inet6, port: port))
        v4.completeWith(answer.addresses(.inet, port: port))
    }
    /// The one answer of both families, in the order in which its addresses are to be tried.
    private func complete(ordered answer: NameAnswer, _ port: Int) {
        switch (answer.addresses(.inet6, port: port), answer.addresses(.inet, port: port)) {
        case (.success(let first), .success(let second)):
            let all = Self.alternating(first, second)
            v6.succeed(all.filter { !tried.contains($0) } + all.filter { tried.contains($0) })
            v4.succeed([])
        case (.failure(let error), _), (_, .failure(let error)):
            v6.fail(error)
            v4.fail(error)
        }
    }

    /// As happy eyeballs would try them (RFC 8305, 4).
    private static func alternating(_ first: [SocketAddress], _ second: [SocketAddress]) -> [SocketAddress] {
        (0..<max(first.count, second.count)).flatMap { index in
            first[min(index, first.count)...].prefix(1) + second[min(index, second.count)...].prefix(1)
        }
    }
}
