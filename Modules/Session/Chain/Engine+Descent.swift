internal import FoundationEssentials
internal import LinnetCache
internal import LinnetSerialization
internal import LinnetTransport

/// The way of a request down to the first link that is called: the links that it passed, and what they need on the way up.
struct Descent: Sendable {
    /// The index of the link that is called; the number of links for the transport's. Below 0 it is an interceptor of the call, the
    /// last of which has the index -1.
    fileprivate(set) var end: Int
    /// The rules of content codings, if their place is on the way and the response has not passed it.
    fileprivate(set) var coding: ContentCodingRules?
    /// When the request passed the cache.
    var requestTime: Date?
    /// The number of invalidations of the cache then.
    var invalidations: UInt64 = 0
    /// The response that may answer the request, which therefore did not pass the cache.
    var cached: Boxed<StoredResponse>?
    private let start: Int
    /// A bit for each link from `start` on. There are fewer than 64 links that can be passed.
    private var passed: UInt64 = 0

    fileprivate init(from start: Int) {
        self.start = start
        end = start
    }

    /// The request passes the link that would be called.
    fileprivate mutating func pass() {
        passed |= 1 << UInt64(end - start)
        end += 1
    }

    /// Removes and returns the last link that was passed, if its index is at least `index`.
    fileprivate mutating func popLast(from index: Int) -> Int? {
        guard passed != 0 else { return nil }
        let offset = 63 - passed.leadingZeroBitCount
        guard start + offset >= index else { return nil }
        passed &= ~(1 << UInt64(offset))
        return start + offset
    }
}

// The ways down and up are not inlined: their temporary values would be part of the frame of a request that waits.
extension Engine {
    /// Takes a request down past the links that have nothing to do with it.
    ///
    /// - Parameter index: The place in the chain, where the interceptors of the call come first.
    @inline(never)
    func descend(_ request: SessionRequest, from index: Int, _ exchange: Exchange) -> Descent {
        let start = index - exchange.ownCount
        var descent = Descent(from: start)
        while descent.end >= 0, descent.end < links.count, let passive = links[descent.end].passive,
            passive.passes(request, exchange, &descent)
        {
            descent.pass()
        }
        if start <= codingPlace, codingPlace <= descent.end { descent.coding = coding }
        return descent
    }

    /// Hands a request to what is at the end of its way down.
    @inline(never)
    func deliver(
        _ request: SessionRequest, _ descent: Descent, _ exchange: Exchange
    ) async throws(SessionError) -> StreamedResponse {
        guard descent.end < links.count else {
            return try await transportLink.send(request, exchange, timeouts: timeouts)
        }
        if let response = immediateResponse(to: request, descent, exchange) { return response }
        return try await call(descent.end, request, exchange)
    }

    @inline(never)
    private func immediateResponse(
        to request: SessionRequest, _ descent: Descent, _ exchange: Exchange
    ) -> StreamedResponse? {
        descent.end < 0 ? nil : links[descent.end].passive?.response(to: request, exchange, descent)
    }

    /// Calls an interceptor of the call or of a link.
    @inline(never)
    private func call(
        _ end: Int, _ request: SessionRequest, _ exchange: Exchange
    ) async throws(SessionError) -> StreamedResponse {
        let (interceptor, chain) = (end < 0 ? exchange.own(end) : links[end].interceptor, chain(below: end, exchange))
        do {
            guard end < 0 || links[end].isUsers else {
                return try await interceptor.intercept(request, next: chain)
            }
            return try await run(interceptor, request, chain)
        } catch {
            throw SessionError(thrown: error, url: request.url)
        }
    }

    /// Calls an interceptor of the user's.
    @inline(never)
    private func run(
        _ interceptor: any Interceptor, _ request: SessionRequest, _ chain: InterceptorChain
    ) async throws -> StreamedResponse {
        let errand = Errand<StreamedResponse>()
        var chain = chain
        chain.errand = errand
        return try await errand.run { [chain] in try await interceptor.intercept(request, next: chain) }
    }

    /// Takes a response up past the links that have nothing to do with it.
    ///
    /// - Parameters:
    ///   - request: The request as it came from above.
    ///   - sent: The request below the place of the content codings.
    /// - Returns: The first link that has something to do with it; nil at the end of the way. ``bodyPlace`` if its body is to be read
    ///   first.
    @inline(never)
    func ascend(
        _ response: inout StreamedResponse, along descent: inout Descent, of request: SessionRequest,
        sent: SessionRequest, in exchange: Exchange
    ) -> Int? {
        while true {
            if let index = descent.popLast(from: descent.coding == nil ? 0 : codingPlace) {
                guard
                    links[index].passive?.passes(&response, to: index < codingPlace ? request : sent, exchange) == true
                else { return index }
            } else {
                guard let coding = descent.coding else { return nil }
                coding.decode(&response, to: request)
                descent.coding = nil
                if readsBody(of: response, exchange) { return Self.bodyPlace }
            }
        }
    }

    /// Stands for the place of the content codings among the indices of links.
    private static var bodyPlace: Int { -1 }

    /// Whether a body is read at the place of the content codings: one that is wanted whole, and that the transport streams so that
    /// it is decoded as it arrives. The links above see a body that fails as the failure of the request, as of any whole body.
    private func readsBody(of response: StreamedResponse, _ exchange: Exchange) -> Bool {
        guard transportLink.streamsCodedResponses, response.body.isOfConnection, case .whole = exchange.delivery else {
            return false
        }
        return response.head.status.code < 300
    }

    @inline(never)
    private func readingBody(
        _ outcome: Result<StreamedResponse, SessionError>
    ) async -> Result<StreamedResponse, SessionError> {
        await Result { () async throws(SessionError) in
            var response = try outcome.get()
            do throws(SessionError) {
                let bytes = try await response.body.collect(upTo: maximumBodySize)
                response.attempts = response.metrics
                response.body = .whole(bytes, response.body.completion)
            } catch {
                throw error.adding(response)
            }
            return response
        }
    }

    /// Takes a response up from a link that has something to do with it.
    @inline(never)
    func finish(
        _ response: StreamedResponse, at index: Int, along descent: inout Descent, of request: SessionRequest,
        sent: SessionRequest, in exchange: Exchange
    ) async throws(SessionError) -> StreamedResponse {
        try await finish(.success(response), at: index, along: &descent, of: request, sent: sent, in: exchange)
    }

    /// Takes a failure up.
    @inline(never)
    func finish(
        _ error: SessionError, along descent: inout Descent, of request: SessionRequest, sent: SessionRequest,
        in exchange: Exchange
    ) async throws(SessionError) -> StreamedResponse {
        try await finish(.failure(error), at: nil, along: &descent, of: request, sent: sent, in: exchange)
    }

    /// Takes an outcome up, and calls the links that have something to do with it.
    ///
    /// - Parameter index: The first of them; nil if it is not known.
    @inline(never)
    private func finish(
        _ outcome: Result<StreamedResponse, SessionError>, at index: Int?, along descent: inout Descent,
        of request: SessionRequest, sent: SessionRequest, in exchange: Exchange
    ) async throws(SessionError) -> StreamedResponse {
        var (outcome, index) = (outcome, index)
        while true {
            if index == Self.bodyPlace {
                outcome = await readingBody(outcome)
            } else if let index, let passive = links[index].passive {
                do {
                    outcome = .success(
                        try await passive.intercept(
                            outcome, of: index < codingPlace ? request : sent, descent: descent,
                            next: chain(below: index, exchange)))
                } catch {
                    outcome = .failure(SessionError(thrown: error, url: request.url))
                }
            }
            switch outcome {
            case .success(var response):
                index = ascend(&response, along: &descent, of: request, sent: sent, in: exchange)
                if index == nil { return response }
                outcome = .success(response)
            case .failure(let error):
                index = ascend(error, along: &descent, of: request, sent: sent, in: exchange)
                if index == nil { throw error }
            }
        }
    }

    /// Takes a failure up past the links that have nothing to do with it, and returns the first that has.
    private func ascend(
        _ error: SessionError, along descent: inout Descent, of request: SessionRequest, sent: SessionRequest,
        in exchange: Exchange
    ) -> Int? {
        while let index = descent.popLast(from: 0) {
            let isAbove = index < codingPlace
            // A response that a link above the place has fetched instead is decoded.
            if isAbove { descent.coding = nil }
            if links[index].passive?.passes(error, of: isAbove ? request : sent, exchange) != true { return index }
        }
        return nil
    }

    private func chain(below index: Int, _ exchange: Exchange) -> InterceptorChain {
        InterceptorChain(engine: self, index: index + exchange.ownCount + 1, exchange: exchange)
    }
}

extension Exchange {
    /// The number of interceptors of the call.
    fileprivate var ownCount: Int { call.own?.interceptors.count ?? 0 }

    /// An interceptor of the call by its index in a descent.
    fileprivate func own(_ index: Int) -> any Interceptor { (call.own?.interceptors ?? [])[index + ownCount] }
}
