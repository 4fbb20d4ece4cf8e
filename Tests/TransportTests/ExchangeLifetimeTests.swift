import FoundationEssentials
import HTTPTypes
import LinnetSecurity
import LinnetTesting
import LinnetTransport
import NIOCore
import Testing

/// An exchange is released when it ends, whatever its caller keeps. Only the exchange retains its observer here.
@Suite("The lifetime of exchanges", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct ExchangeLifetimeTests {
    enum Wire: CaseIterable, Sendable {
        case http1, http1OverTLS, http2, http2OverTLS

        var isSecure: Bool { self == .http1OverTLS || self == .http2OverTLS }
        var isHTTP2: Bool { self == .http2 || self == .http2OverTLS }
    }

    enum Path: String, CaseIterable, Sendable {
        case wholeBody, readToItsEnd, droppedUnread, droppedHalfway, readerCancelled, brokenOff, keptUnread
        case unsuccessful, refusedUpload, abandonedUpload, timedOut
    }

    /// Fires when it is released.
    private final class Probe: TransportObserver {
        let released: LinnetTesting.Signal

        init(_ released: LinnetTesting.Signal) { self.released = released }

        deinit { released.fire() }
    }

    private static let half = 1_000_000

    private static let routes = MockServer.Routes { routes in
        let body = MockResponse.Body.bytes(Data(count: 2 * half))
        routes.on(.get, "/body", MockResponse(body: body))
        routes.on(.get, "/broken", MockResponse(body: body).with(.init(.reset, at: .responseBody(after: half))))
        routes.on(.get, "/stalled", MockResponse(body: body).with(.init(.stall, at: .responseBody(after: half))))
        routes.on(.get, "/missing", MockResponse(status: .notFound, body: body))
        routes.on(.put, "/refused", MockResponse(status: .contentTooLarge, body: .text("no")))
        routes.on(.put, "/taken") { request in
            do {
                for try await _ in request.chunks {}
                return .text("all")
            } catch {
                return .text("\(error)", status: .badRequest)
            }
        }
    }

    private func withWire(_ wire: Wire, perform: (HTTPTransport, MockServer) async throws -> Void) async throws {
        let pki = try TestPKI()
        let anchors = try TrustAnchors.certificates([pki.root])
        let configuration = MockServer.Configuration {
            $0.hostName = wire.isSecure ? "localhost" : "127.0.0.1"
            $0.httpVersions = wire.isHTTP2 ? .http2 : .http1
            $0.requestBodies = .streamed
        }
        try await withMockServer(
            routes: Self.routes, tls: wire.isSecure ? try pki.identity() : nil, configuration: configuration
        ) { server in
            try await withTransport({
                $0.securityPolicy = .systemTrust(anchors: anchors)
                $0.httpVersions = wire.isHTTP2 ? .http2 : .http1
            }) { transport in
                try await perform(transport, server)
            }
        }
    }

    /// Runs a path; returns what a caller may keep afterwards.
    private func go(
        _ path: Path, _ transport: HTTPTransport, _ server: MockServer, _ observer: any TransportObserver,
        until gate: LinnetTesting.Signal
    ) async throws -> TransportResponse? {
        func response(
            _ place: String, _ delivery: ResponseDelivery = .streamed, timeouts: TransportTimeouts = .init()
        ) async throws -> TransportResponse {
            var request = server.request(.get, place, delivery: delivery, timeouts: timeouts)
            request.streamsUnsuccessfulResponses = true
            return try await transport.send(request, observer: observer)
        }
        switch path {
        case .wholeBody:
            return try await response("/body", .whole(upTo: .max))
        case .readToItsEnd:
            let response = try await response("/body")
            #expect(try await response.body.collect(upTo: .max).readableBytes == 2 * Self.half)
            return response
        case .droppedUnread:
            _ = try await response("/body")
            return nil
        case .droppedHalfway:
            var iterator = try await response("/body").body.makeAsyncIterator()
            #expect(try await iterator.next() != nil)
            return nil
        case .readerCancelled:
            let response = try await response("/stalled")
            let reading = Task { try await response.body.collect(upTo: .max) }
            reading.cancel()
            _ = await reading.result
            return response
        case .brokenOff:
            let response = try await response("/broken")
            await #expect(throws: TransportError.self) { try await response.body.collect(upTo: .max) }
            return response
        case .keptUnread:
            // The body is not read, and the connection ends.
            let response = try await response("/body")
            await transport.shutdown(.immediate)
            return response
        case .unsuccessful:
            let response = try await response("/missing", .whole(upTo: .max))
            #expect(response.body.whole == nil)
            #expect(try await response.body.collect(upTo: .max).readableBytes == 2 * Self.half)
            return response
        case .refusedUpload:
            let body = UploadKind.chunked.body(32 * Self.half)
            return try await transport.send(server.request(.put, "/refused", body: body), observer: observer)
        case .abandonedUpload:
            // Its reader waits forever and ignores cancellation.
            let body = TransportRequestBody.stream(length: nil, isReplayable: false) {
                MadeReader { _ in
                    await Task { await gate.wait() }.value
                    return nil
                }
            }
            return try await transport.send(server.request(.put, "/refused", body: body), observer: observer)
        case .timedOut:
            await #expect(throws: TransportError.self) {
                _ = try await response("/stalled", timeouts: .init(idleRead: .milliseconds(100))).body.collect(
                    upTo: .max)
            }
            return nil
        }
    }

    @Test(arguments: Path.allCases, Wire.allCases)
    func anExchangeThatIsOverIsReleased(path: Path, wire: Wire) async throws {
        try await withWire(wire) { transport, server in
            let (released, gate) = (LinnetTesting.Signal(), LinnetTesting.Signal())
            defer { gate.fire() }
            let kept = try await go(path, transport, server, Probe(released), until: gate)
            #expect(await hasFired(released))
            withExtendedLifetime(kept) {}
        }
    }

    @Test(arguments: Wire.allCases)
    func aRequestThatIsCancelledIsReleased(wire: Wire) async throws {
        try await withWire(wire) { transport, server in
            let (released, asked) = (LinnetTesting.Signal(), LinnetTesting.Signal())
            let request = server.request(
                .put, "/taken",
                body: .stream(length: nil, isReplayable: false) {
                    MadeReader { _ in
                        asked.fire()
                        try await Task.sleep(for: .seconds(3600))
                        return nil
                    }
                })
            let task = Task { [probe = Probe(released)] in _ = try await transport.send(request, observer: probe) }
            await asked.wait()
            task.cancel()
            _ = await task.result
            #expect(await hasFired(released))
        }
    }
}

/// Waits for a signal with enough time for the release on a busy machine.
private func hasFired(_ signal: LinnetTesting.Signal) async -> Bool {
    await withTaskGroup(of: Void.self) { group in
        group.addTask { await signal.wait() }
        group.addTask { try? await Task.sleep(for: .seconds(15)) }
        await group.next()
        group.cancelAll()
    }
    return signal.hasFired
}
