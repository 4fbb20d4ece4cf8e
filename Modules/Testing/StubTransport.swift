public import FoundationEssentials
public import HTTPTypes
internal import LinnetMessages
public import LinnetSecurity
public import LinnetTransport
internal import NIOCore
internal import Synchronization

/// A transport for tests that answers requests with a closure and opens no sockets.
///
/// ```swift
/// let transport = StubTransport { request in
///     request.head.path == "/people" ? .json(#"{"name": "Ada"}"#) : .status(.notFound)
/// }
/// let session = try HTTPSession(transport: transport)
/// ```
///
/// The request's body is read to its end before the closure is called, and its bytes are reported as sent. A body that
/// fails is `TransportError.Code.requestBodyFailed`, as with a connection. An error that the closure throws fails the
/// request: a `TransportError` unchanged, any other error with `TransportError.Code.connectionClosed`. A cancelled
/// request always fails with `TransportError.Code.cancelled`.
public final class StubTransport: Transport {
    /// A closure that answers a request.
    public typealias Handler = @Sendable (Request) async throws -> Response

    private struct State {
        var requests: [Request] = []
        var shutdowns: [ShutdownMode] = []
        var securityPolicy: SecurityPolicy?
        var clientIdentities: ClientIdentityPolicy?
    }

    private let state = Mutex(State())
    private let handler: Handler

    /// Creates a transport.
    ///
    /// - Parameter handler: Answers the requests. The default answers with status 200 and an empty body.
    public init(_ handler: @escaping Handler = { _ in .status(.ok) }) {
        self.handler = handler
    }

    /// The requests so far, in order, each with its whole body.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// The modes of the calls of ``shutdown(_:)`` so far.
    public var shutdowns: [ShutdownMode] { state.withLock { $0.shutdowns } }

    /// Answers a request with the handler.
    public func send(
        _ request: TransportRequest, observer: (any TransportObserver)?
    ) async throws(TransportError) -> TransportResponse {
        guard state.withLock({ $0.shutdowns.isEmpty }) else {
            throw TransportError(.shutDown, "The transport was shut down.")
        }
        do {
            let body = try await whole(request.body, observer)
            let received = record(request, body: body)
            let response = try await handler(received)
            try Task.checkCancellation()
            return try await response.transportResponse(request.delivery)
        } catch {
            throw Self.transportError(error)
        }
    }

    /// The last security policy that was set; nil if there was none. It has no effect, because there are no
    /// connections.
    public var securityPolicy: SecurityPolicy? { state.withLock { $0.securityPolicy } }

    /// The last client identities that were set; nil if there were none.
    public var clientIdentities: ClientIdentityPolicy? { state.withLock { $0.clientIdentities } }

    /// Records the policy.
    public func replaceSecurityPolicy(_ policy: SecurityPolicy) {
        state.replace(\.securityPolicy, with: policy)
    }

    /// Records the identities.
    public func replaceClientIdentities(_ identities: ClientIdentityPolicy) {
        state.replace(\.clientIdentities, with: identities)
    }

    /// Records the shutdown. Later requests fail with `TransportError.Code.shutDown`.
    public func shutdown(_ mode: ShutdownMode) async {
        state.withLock { $0.shutdowns.append(mode) }
    }

    private func record(_ request: TransportRequest, body: Data) -> Request {
        state.withLock { state in
            let received = Request(
                index: state.requests.count, head: request.head, body: body, timeouts: request.timeouts,
                delivery: request.delivery)
            state.requests.append(received)
            return received
        }
    }

    private func whole(_ body: TransportRequestBody?, _ observer: (any TransportObserver)?) async throws -> Data {
        do {
            return try await read(body, observer)
        } catch {
            if Task.isCancelled || error is TransportError || error is CancellationError { throw error }
            throw TransportError(.requestBodyFailed, "The request body failed: \(error)", underlying: error)
        }
    }

    private func read(_ body: TransportRequestBody?, _ observer: (any TransportObserver)?) async throws -> Data {
        switch body {
        case nil:
            return Data()
        case .bytes(let bytes):
            observer?.didSendBody(bytes: bytes.readableBytes)
            return Data(bytes.readableBytesView)
        case .stream(_, _, let make):
            var all = Data()
            var reader = try make()
            while let chunk = try await reader.next() {
                all.append(contentsOf: chunk.readableBytesView)
                observer?.didSendBody(bytes: chunk.readableBytes)
            }
            return all
        }
    }

    private static func transportError(_ error: any Error) -> TransportError {
        if Task.isCancelled || error is CancellationError {
            return TransportError(.cancelled, "The request was cancelled.")
        }
        if let error = error as? TransportError { return error }
        return TransportError(.connectionClosed, "The stub's handler failed: \(error)", underlying: error)
    }
}

extension StubTransport {
    /// A request that a ``StubTransport`` received.
    public struct Request: Sendable {
        /// The number of the request, counted from 0.
        public let index: Int
        /// The method, scheme, authority, path and header fields.
        public let head: HTTPRequest
        /// The whole body.
        public let body: Data
        /// The timeouts of the request.
        public let timeouts: TransportTimeouts
        /// How the body of the response is delivered.
        public let delivery: ResponseDelivery
    }
}

extension StubTransport {
    /// A response of a ``StubTransport``.
    public struct Response: Sendable {
        private enum Content: Sendable {
            case whole(Data)
            case stream(Body)
        }

        private let head: HTTPResponse
        private let body: Content

        /// Creates a response with a status, header fields and a body.
        ///
        /// - Parameters:
        ///   - status: The status, such as `.notFound` or `404`.
        ///   - headerFields: The header fields. Content-Length is added when it is missing.
        ///   - body: The body. The default is empty.
        public static func status(
            _ status: HTTPResponse.Status, headerFields: HTTPFields = [:], body: Data = Data()
        ) -> Response {
            var head = HTTPResponse(status: status, headerFields: headerFields)
            if !head.headerFields.contains(.contentLength) { head.headerFields[.contentLength] = String(body.count) }
            return Response(head: head, body: .whole(body))
        }

        /// Creates a response with a JSON text and the content type `application/json`.
        public static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
            .status(status, headerFields: [.contentType: "application/json"], body: Data(text.utf8))
        }

        /// Creates a response whose body the test sends piece by piece.
        public static func stream(
            _ body: Body, status: HTTPResponse.Status = .ok, headerFields: HTTPFields = [:]
        ) -> Response {
            Response(head: HTTPResponse(status: status, headerFields: headerFields), body: .stream(body))
        }

        func transportResponse(_ delivery: ResponseDelivery) async throws(TransportError) -> TransportResponse {
            let transportBody: TransportResponseBody
            switch (body, delivery) {
            case (.whole(let data), .whole(let limit)) where data.count > limit:
                throw TransportError(.bodyTooLarge, "The response body exceeds the limit of \(limit) bytes.")
            case (.whole(let data), _):
                transportBody = TransportResponseBody(ByteBuffer(bytes: data))
            case (.stream(let stub), .whole(let limit)):
                transportBody = TransportResponseBody(try await stub.transportBody.collect(upTo: limit))
            case (.stream(let stub), .streamed):
                transportBody = stub.transportBody
            }
            var metrics = TransportMetrics()
            metrics.httpVersion = "http/1.1"
            return TransportResponse(head: head, body: transportBody, metrics: metrics)
        }
    }
}

extension StubTransport {
    /// The body of one stubbed response, which the test sends piece by piece.
    public final class Body: Sendable {
        /// Retains the body until a response takes it, because releasing it abandons it.
        private let body: Mutex<TransportResponseBody?>
        private let writer: TransportResponseBodyWriter
        private let abandonment = Signal()
        private let demands = Demands()

        /// Creates a body that has not sent any bytes.
        public init() {
            let (body, writer) = TransportResponseBodyWriter.makeBody(
                resumed: { [demands] in demands.add() }, abandoned: { [abandonment] _ in abandonment.fire() })
            self.body = Mutex(body)
            self.writer = writer
        }

        /// Sends bytes.
        ///
        /// - Returns: Whether a connection would continue reading from its socket. False means that the reader has to
        ///   catch up first.
        @discardableResult
        public func send(_ bytes: Data) -> Bool {
            writer.write(ByteBuffer(bytes: bytes))
        }

        /// Sends text in UTF-8.
        ///
        /// - Returns: Whether a connection would continue reading from its socket, as for ``send(_:)-(Data)``.
        @discardableResult
        public func send(_ text: String) -> Bool {
            send(Data(text.utf8))
        }

        /// Ends the body.
        public func finish() {
            writer.finish()
        }

        /// Ends the body with an error.
        public func fail(_ error: TransportError) {
            writer.fail(error)
        }

        /// Waits until the reader has abandoned the body before its end, or the task is cancelled.
        public func waitForAbandonment() async {
            await abandonment.wait()
        }

        /// Waits for the next demand of the reader, or until the task is cancelled.
        ///
        /// The reader demands more bytes when it takes all that were sent, once for each time that ``send(_:)-(Data)``
        /// began to return false. A call returns for one demand, in order, also for one before the call: after `send`
        /// returned false, call this method once, and send again. A cancelled call takes no demand.
        ///
        /// A body that has ended or was abandoned has no more demands.
        public func waitForDemand() async {
            await demands.take()
        }

        var transportBody: TransportResponseBody {
            body.withLock { body in
                defer { body = nil }
                return body ?? TransportResponseBody(ByteBuffer())
            }
        }
    }
}

/// The reader's demands for more bytes. Each call takes one.
private final class Demands: Sendable {
    private struct State {
        /// The number of demands that no call has taken.
        var count = 0
        var waiters = Waiters<Void>()
    }

    private let state = Mutex(State())

    func add() {
        let waiter = state.withLock { state -> Waiters<Void>.Waiter? in
            if let waiter = state.waiters.takeFirst() { return waiter }
            state.count += 1
            return nil
        }
        waiter?.resume()
    }

    /// Returns when a demand was taken or the task is cancelled.
    func take() async {
        await state.wait(in: { $1(&$0.waiters) }, ifCancelled: {}) { state -> Void? in
            guard state.count > 0 else { return nil }
            state.count -= 1
            return ()
        }
    }
}
