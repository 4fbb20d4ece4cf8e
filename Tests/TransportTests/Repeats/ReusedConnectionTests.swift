import HTTPTypes
import LinnetTesting
import LinnetTransport
import Testing

/// The HTTP/1.1 requests that are sent again after a connection has ended, and the others.
@Suite("Ends of reused connections", .timeLimit(.minutes(1)))
struct ReusedConnectionTests {
    /// One byte of a response is enough to know that the server has had the request.
    @Test(
        arguments: [HTTPRequest.Method.get, .post], ["H", "HTTP/1.1 200 O", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"])
    func aPartialHeadIsNotRepeated(method: HTTPRequest.Method, head: String) async throws {
        let heads = EventRecorder<String>()
        let server = try await MockServer.startRaw { connection in
            let first = String(decoding: try await connection.read(through: "\r\n\r\n"), as: UTF8.self)
            heads.record(first)
            guard !first.contains("/partial") else { return try await connection.write("HTTP/1.1 200 OK\r\n") }
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            heads.record(String(decoding: try await connection.read(through: "\r\n\r\n"), as: UTF8.self))
            try await connection.write(head)
        }
        try await withTransport { transport in
            try await expectText("ok", transport, server.request())
            let error = await failure { () async throws(TransportError) in
                try await transport.send(server.request(method, "/partial"))
            }
            #expect(error?.code == .connectionClosed)
            #expect(error?.attempts.map(\.failure) == [.other])
            #expect(error?.attempts.first?.isReusedConnection == true)
        }
        #expect(heads.events.count { $0.contains("/partial") } == 1)
        await server.shutdown()
    }

    /// The first connections end at once. A request that had not begun on one is sent again; a begun one fails, and
    /// reports it.
    @Test func aConnectionThatEndsBeforeItsFirstRequestFailsNoRequest() async throws {
        for _ in 0..<40 {
            let configuration = MockServer.Configuration {
                $0.faults = .connections(0..<3, .init(.close, at: .connect))
            }
            try await withMockServer(configuration: configuration) { _ in
                .text("ok")
            } perform: { server in
                try await withTransport { transport in
                    var earlier: [TransportMetrics] = []
                    do {
                        let response = try await transport.send(server.request(.post, body: .text("body")))
                        #expect(response.text == "ok")
                        earlier = Array(response.attempts.dropLast())
                    } catch let error as TransportError {
                        #expect(error.attempts.last?.failure == .other && error.attempts.last?.requestStart != nil)
                        earlier = error.attempts.dropLast()
                    }
                    #expect(earlier.allSatisfy { $0.failure == .notConnected || $0.failure == .notSent })
                    #expect(earlier.count <= 3)
                }
            }
        }
    }

    @Test func aRepeatIsReported() async throws {
        let observer = RecordingObserver()
        try await withMockServer { request in
            request.exchangeIndex == 0 ? .text("ok") : MockResponse(faults: [.init(.close, at: .responseHead)])
        } perform: { server in
            try await withTransport { transport in
                try await expectText("ok", transport, server.request())
                let response = try await transport.send(server.request(), observer: observer)
                #expect(response.attempts.dropLast().map(\.failure) == [.staleConnection])
                #expect(response.attempts.dropLast().map(\.isReusedConnection) == [true])
                #expect(response.metrics.failure == nil && !response.metrics.isReusedConnection)
            }
        }
        #expect(observer.record.attempts.map(\.failure) == [.staleConnection, nil])
    }
}
