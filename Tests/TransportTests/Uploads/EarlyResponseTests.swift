import FoundationEssentials
import HTTPTypes
import LinnetTesting
import LinnetTransport
import NIOCore
import Synchronization
import Testing

/// HTTP/1.1 responses that arrive before the server has read the whole request.
@Suite("Responses before the request's end", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct EarlyResponseTests {
    /// More than the buffers of two sockets hold.
    private static let size = 32 * 1024 * 1024
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Starts a server that reads part of a body, responds, and continues with `serve`.
    private func server(
        reading count: Int = 40_000, answering response: String = ok,
        then serve: @escaping @Sendable (inout UploadedBytes) async throws -> Void
    ) async throws -> MockServer {
        try await MockServer.startRaw { connection in
            var bytes = try await UploadedBytes(on: connection)
            try await bytes.read(upTo: count)
            try await connection.write(response)
            try await serve(&bytes)
        }
    }

    @Test(arguments: UploadKind.allCases, [ResponseDelivery.whole(upTo: 10), .streamed])
    func anUploadGoesOnAfterASuccess(kind: UploadKind, delivery: ResponseDelivery) async throws {
        let got = AsyncStream<Int>.makeStream()
        let server = try await server { bytes in
            try await bytes.read(upTo: Self.size)
            got.continuation.yield(bytes.count)
            // The next request of the same connection.
            try await bytes.connection.read(through: "\r\n\r\n")
            try await bytes.connection.write(Self.ok)
        }
        try await withTransport { transport in
            let observer = RecordingObserver()
            let response = try await transport.send(
                server.request(.put, body: kind.body(Self.size), delivery: delivery), observer: observer)
            #expect(try await String(buffer: response.body.collect(upTo: 10)) == "ok")
            let metrics = try #require(response.body.completion?.metrics)
            #expect(!metrics.isRequestBodyCutShort)
            #expect(metrics.requestBodyBytes == Int64(Self.size))
            #expect(metrics.requestEnd != nil)
            #expect(observer.record.sentBytes == Self.size)
            if kind != .chunked {
                #expect(await got.stream.first { _ in true } == Self.size)
                try await expectText("ok", transport, server.request())
            }
        }
        await server.shutdown()
    }

    @Test(arguments: UploadKind.allCases)
    func aServerThatClosesWithItsSuccessIsReported(kind: UploadKind) async throws {
        let server = try await server(
            answering: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
        ) { try await $0.readToEnd() }
        try await withTransport { transport in
            let response = try await transport.send(server.request(.put, body: kind.body(Self.size)))
            #expect(response.text == "ok")
            #expect(response.metrics.isRequestBodyCutShort)
            #expect(response.metrics.requestBodyBytes < Self.size)
            #expect(response.metrics.requestEnd == nil)
        }
        await server.shutdown()
    }

    @Test(arguments: UploadKind.allCases)
    func aConnectionThatEndsAfterTheWholeResponseLeavesASuccess(kind: UploadKind) async throws {
        let server = try await server { _ in }
        try await withTransport { transport in
            let response = try await transport.send(server.request(.put, body: kind.body(Self.size)))
            #expect(response.text == "ok")
            #expect(response.metrics.isRequestBodyCutShort)
        }
        await server.shutdown()
    }

    @Test(arguments: UploadKind.allCases, [401, 413, 503, 307])
    func aRefusalEndsTheUploadAndTheConnection(kind: UploadKind, status: Int) async throws {
        let server = try await MockServer.startRaw { connection in
            var bytes = try await UploadedBytes(on: connection)
            guard connection.index == 0 else {
                return try await connection.write(Self.ok)
            }
            try await connection.write("HTTP/1.1 \(status) No\r\nContent-Length: 2\r\n\r\nno")
            try await bytes.readToEnd()
        }
        try await withTransport { transport in
            let timeouts = TransportTimeouts(request: .seconds(30))
            let response = try await transport.send(
                server.request(.put, body: kind.body(Self.size), timeouts: timeouts))
            #expect(response.head.status.code == status)
            #expect(response.text == "no")
            #expect(response.metrics.isRequestBodyCutShort)
            // Not after the rest of that body.
            let next = try await transport.send(server.request(timeouts: timeouts))
            #expect(next.text == "ok")
            #expect(!next.metrics.isReusedConnection)
            #expect(!next.metrics.isRequestBodyCutShort)
        }
        await server.shutdown()
    }

    @Test(arguments: UploadKind.allCases)
    func aServerThatStopsReadingAfterItsSuccessIsATimeout(kind: UploadKind) async throws {
        let server = try await server { try await $0.connection.perform(.stall) }
        try await withTransport { transport in
            let error = await failure { () async throws(TransportError) in
                try await transport.send(
                    server.request(
                        .put, body: kind.body(Self.size), timeouts: TransportTimeouts(idleWrite: .milliseconds(200))))
            }
            #expect(error?.code == .writeTimeout)
        }
        await server.shutdown()
    }

    @Test func bytesAfterACompleteResponseEndTheConnection() async throws {
        let server = try await server(answering: Self.ok + "HTTP/1.1 200 OK\r\n") { try await $0.readToEnd() }
        try await withTransport { transport in
            let response = try await transport.send(server.request(.put, body: UploadKind.memory.body(Self.size)))
            #expect(response.text == "ok")
            #expect(response.metrics.isRequestBodyCutShort)
        }
        await server.shutdown()
    }

    /// The last byte was sent, but the reader has not returned nil yet.
    @Test func aBodyOfKnownLengthEndsWithItsLastByte() async throws {
        let server = try await server(
            reading: 5, answering: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
        ) { _ in }
        try await withTransport { transport in
            let body = TransportRequestBody.stream(length: 5, isReplayable: false) {
                MadeReader { index in
                    if index > 0 { try await Task.sleep(for: .seconds(3600)) }
                    return index == 0 ? ByteBuffer(string: "hello") : nil
                }
            }
            let response = try await transport.send(server.request(.put, body: body))
            #expect(response.text == "ok")
            #expect(!response.metrics.isRequestBodyCutShort)
            #expect(response.metrics.requestBodyBytes == 5)
        }
        await server.shutdown()
    }

    /// The rest of a head would be read as the next request.
    @Test func aRefusalBeforeTheHeadIsOutEndsTheConnection() async throws {
        let server = try await MockServer.startRaw { connection in
            guard connection.index == 0 else {
                try await connection.read(through: "\r\n\r\n")
                return try await connection.write(Self.ok)
            }
            _ = try await connection.read()
            try await connection.write("HTTP/1.1 431 Large\r\nContent-Length: 2\r\n\r\nno")
            while try await connection.read() != nil {}
        }
        try await withTransport { transport in
            let fields: HTTPFields = [.cookie: String(repeating: "a", count: Self.size)]
            let response = try await transport.send(server.request(fields: fields))
            #expect(response.head.status.code == 431)
            #expect(!response.metrics.isRequestBodyCutShort)
            #expect(response.metrics.requestEnd == nil)
            let next = try await transport.send(server.request())
            #expect(next.text == "ok")
            #expect(!next.metrics.isReusedConnection)
        }
        await server.shutdown()
    }

    // MARK: Both ways at once

    /// Each piece is sent after the server's answer to the last one was read.
    @Test func requestAndResponseCanFlowAtTheSameTime() async throws {
        let rounds = 20
        let server = try await MockServer.startRaw { connection in
            _ = try await UploadedBytes(on: connection)
            try await connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(rounds)\r\n\r\n")
            for _ in 0..<rounds {
                try await connection.write("x")
                // Size line, the byte, and the end of the chunk.
                try await connection.read(through: "1\r\ny\r\n")
            }
            try await connection.read(through: "0\r\n\r\n")
        }
        try await withTransport { transport in
            let words = AsyncStream<Void>.makeStream()
            let body = TransportRequestBody.stream(length: nil, isReplayable: false) {
                MadeReader { index in
                    guard index < rounds else { return nil }
                    for await _ in words.stream { break }
                    return ByteBuffer(string: "y")
                }
            }
            let response = try await transport.send(server.request(.post, body: body, delivery: .streamed))
            var count = 0
            for try await bytes in response.body {
                for _ in 0..<bytes.readableBytes { words.continuation.yield() }
                count += bytes.readableBytes
            }
            #expect(count == rounds)
            let metrics = try #require(response.body.completion?.metrics)
            #expect(metrics.requestBodyBytes == Int64(rounds))
            #expect(!metrics.isRequestBodyCutShort)
        }
        await server.shutdown()
    }

    /// The whole response arrives long before the body's reader ends.
    @Test func aResponseIsNotOverBeforeItsRequest() async throws {
        let server = try await server(reading: 1) { try await $0.readToEnd() }
        try await withTransport { transport in
            let wholeResponse = Signal()
            let body = TransportRequestBody.stream(length: 10, isReplayable: false) {
                MadeReader { index in
                    if index == 1 { await wholeResponse.wait() }
                    return index < 2 ? ByteBuffer(string: "hello") : nil
                }
            }
            let response = try await transport.send(server.request(.put, body: body, delivery: .streamed))
            var iterator = response.body.makeAsyncIterator()
            let first = try await iterator.next()
            #expect(first.map { String(buffer: $0) } == "ok")
            #expect(response.body.completion == nil)
            wholeResponse.send()
            #expect(try await iterator.next() == nil)
            #expect(response.body.completion?.metrics.requestBodyBytes == 10)
            #expect(response.body.completion?.metrics.isRequestBodyCutShort == false)
            #expect(transport.openConnections == 1)
        }
        await server.shutdown()
    }
}
