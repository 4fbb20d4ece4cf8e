import LinnetTesting
import LinnetTransport
import Synchronization
import Testing

/// How a request's proxy is chosen.
extension ProxyConnectionTests {
    @Test func connectionsOfOneProxyServeNoRequestOfAnother() async throws {
        let (first, second) = (TestProxy(), TestProxy())
        let chosen = Mutex<Proxy?>(nil)
        let asked = Mutex<[String]>([])
        try await withMockServer(handler: { .text($0.path) }) { origin in
            try await first.run { one in
                try await second.run { two in
                    let proxies = try [proxy(.http, one), proxy(.http, two), nil]
                    let policy = ProxyPolicy.choosing { origin in
                        asked.withLock { $0.append("\(origin)") }
                        return chosen.withLock { $0 }
                    }
                    try await withTransport({ $0.proxies = policy }) { transport in
                        for round in 0..<2 {
                            for proxy in proxies {
                                chosen.withLock { $0 = proxy }
                                let response = try await transport.send(origin.request())
                                #expect(response.metrics.proxy == proxy?.description)
                                #expect(response.metrics.isReusedConnection == (round == 1))
                            }
                        }
                        #expect(transport.openConnections == 3)
                    }
                }
            }
            #expect((first.log.count, second.log.count) == (2, 2))
            #expect(asked.withLock { $0 } == Array(repeating: "http://127.0.0.1:\(origin.port)", count: 6))
        }
    }

    @Test func exceptionsAreConnectedToDirectly() async throws {
        let test = TestProxy()
        try await withMockServer(.text("ok")) { origin in
            try await test.run { server in
                let proxy = try proxy(.http, server)
                try await withTransport({ $0.proxies = .fixed(proxy, except: ["127.0.0.0/8"]) }) { transport in
                    let response = try await transport.send(origin.request())
                    #expect(response.metrics.proxy == nil)
                }
            }
            #expect(test.log.isEmpty)
        }
    }

    @Test func aFunctionThatFailsFailsTheRequest() async throws {
        struct NoProxy: Error {}
        try await withMockServer(.text("ok")) { origin in
            try await withTransport({ $0.proxies = .choosing { _ in throw NoProxy() } }) { transport in
                let error = await failure(transport, origin.request())
                #expect(error?.code == .proxyConnectionFailed)
                #expect(error?.underlying is NoProxy)
            }
            #expect(origin.acceptedConnections == 0)
        }
    }

    @Test func theTimeoutOfTheRequestEndsTheFunction() async throws {
        try await withMockServer(.text("ok")) { origin in
            try await withTransport({
                $0.proxies = .choosing { _ in
                    await Signal().wait()
                    return nil
                }
            }) { transport in
                let timeouts = TransportTimeouts(request: .milliseconds(50))
                let error = await failure(transport, origin.request(timeouts: timeouts))
                #expect(error?.code == .requestTimeout)
                let task = Task { await failure(transport, origin.request(timeouts: .init(request: .seconds(600)))) }
                task.cancel()
                #expect(await task.value?.code == .cancelled)
            }
            #expect(origin.acceptedConnections == 0)
        }
    }

    @Test func aFunctionThatIgnoresItsCancellationIsNotWaitedFor() async throws {
        let (hasEntered, release, hasLeft) = (Signal(), Signal(), Signal())
        try await withMockServer(.text("ok")) { origin in
            try await withTransport({
                $0.proxies = .choosing { _ in
                    hasEntered.send()
                    await Task { await release.wait() }.value
                    hasLeft.send()
                    return nil
                }
            }) { transport in
                let task = Task { await failure(transport, origin.request()) }
                await hasEntered.wait()
                task.cancel()
                #expect(await task.value?.code == .cancelled)
                release.send()
                await hasLeft.wait()
            }
            #expect(origin.acceptedConnections == 0)
        }
    }

    @Test func connectionsAreOpenedInAdvanceThroughTheProxy() async throws {
        let test = TestProxy()
        try await withOrigin(tls: try identity()) { origin in
            try await test.run { server in
                let proxy = try proxy(.http, server)
                for policy in [ProxyPolicy.fixed(proxy), .choosing { _ in proxy }] {
                    try await withTransport({
                        $0.proxies = policy
                        $0.securityPolicy = try self.policy()
                    }) { transport in
                        try transport.prewarm(origin.request().head)
                        while transport.openConnections == 0, !Task.isCancelled { await Task.yield() }
                        let response = try await transport.send(origin.request())
                        #expect(response.metrics.connectionID == 1)
                        #expect(transport.openConnections == 1)
                    }
                }
            }
            #expect(test.log.count == 2)
        }
    }
}
