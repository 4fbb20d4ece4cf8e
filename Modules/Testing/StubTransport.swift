public import FoundationEssentials
public import HTTPTypes
public import LinnetTransport
internal import NIOCore
internal import Synchronization

/// A transport without a network: a function answers the requests.
///
/// ```swift
/// let transport = StubTransport { request in
///     request.head.path == "/people" ? .json(#"{"name": "Ada"}"#) : .status(404)
/// }
/// let session = Session(transport: transport)
/// ```
/// The request's body is read to its end before the function is called, and its bytes are reported as sent. What the
/// function throws fails the request: a `TransportError` as it is, anything else as
/// `TransportError.Code.connectionClosed`, and a cancelled caller always as `TransportError.Code.cancelled`.
public final class StubTransport: Transport {
    /// Answers a request.
    public typealias Handler = @Sendable (StubRequest) async throws -> StubResponse

    private struct State {
        var requests: [StubRequest] = []
        var shutdowns: [ShutdownMode] = []
    }

    private let state = Mutex(State())
    private let handler: Handler

    /// Makes a transport; the default answers 200 with no body.
    public init(_ handler: @escaping Handler = { _ in .status(200) }) {
        self.handler = handler
    }

    /// The requests that came, in order, each with its whole body.
    public var requests: [StubRequest] { state.withLock { $0.requests } }

    /// The shutdowns that were asked for.
    public var shutdowns: [ShutdownMode] { state.withLock { $0.shutdowns } }

    /// Answers a request by the function.
    public func send(
        _ request: TransportRequest, observer: (any TransportObserver)?
    ) async throws(TransportError) -> TransportResponse {
        guard state.withLock({ $0.shutdowns.isEmpty }) else {
            throw TransportError(.shutDown, "The transport was shut down.")
        }
        do {
            let body = try await read(request.body, observer)
            let received = record(request, body: body)
            let response = try await handler(received)
            try Task.checkCancellation()
            return try await response.transportResponse(request.delivery)
        } catch {
            throw Self.transportError(error)
        }
    }

    /// Notes the shutdown; requests that come later fail with `TransportError.Code.shutDown`.
    public func shutdown(_ mode: ShutdownMode) async {
        state.withLock { $0.shutdowns.append(mode) }
    }

    private func record(_ request: TransportRequest, body: Data) -> StubRequest {
        state.withLock { state in
            let received = StubRequest(
                index: state.requests.count, head: request.head, body: body, timeouts: request.timeouts,
                delivery: request.delivery)
            state.requests.append(received)
            return received
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
        return TransportError(.connectionClosed, "The stub failed: \(error)", underlying: error)
    }
}

/// A request as a ``StubTransport`` got it.
public struct StubRequest: Sendable {
    /// How many requests the transport got before.
    public let index: Int
    /// Method, scheme, authority, path and header fields.
    public let head: HTTPRequest
    /// The whole body.
    public let body: Data
    /// How long each step may take.
    public let timeouts: TransportTimeouts
    /// How the response's body was asked for.
    public let delivery: ResponseDelivery
}
