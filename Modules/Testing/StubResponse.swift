public import FoundationEssentials
public import HTTPTypes
internal import LinnetTransport
internal import NIOCore

/// What a ``StubTransport`` answers.
public struct StubResponse: Sendable {
    private enum Body: Sendable {
        case whole(Data)
        case stream(StubBody)
    }

    private let head: HTTPResponse
    private let body: Body

    /// A status, header fields and a body; Content-Length is added unless a field says otherwise.
    public static func status(
        _ code: Int, headerFields: HTTPFields = [:], body: Data = Data()
    ) -> StubResponse {
        var head = HTTPResponse(status: HTTPResponse.Status(code: code), headerFields: headerFields)
        if !head.headerFields.contains(.contentLength) { head.headerFields[.contentLength] = String(body.count) }
        return StubResponse(head: head, body: .whole(body))
    }

    /// A JSON text, with its Content-Type.
    public static func json(_ text: String, status: Int = 200) -> StubResponse {
        .status(status, headerFields: [.contentType: "application/json"], body: Data(text.utf8))
    }

    /// A body that the test sends bit by bit.
    public static func stream(
        _ body: StubBody, status: Int = 200, headerFields: HTTPFields = [:]
    ) -> StubResponse {
        StubResponse(
            head: HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: headerFields),
            body: .stream(body))
    }

    func transportResponse(_ delivery: ResponseDelivery) async throws(TransportError) -> TransportResponse {
        let transportBody: TransportResponseBody
        switch (body, delivery) {
        case (.whole(let data), .whole(let limit)) where data.count > limit:
            throw TransportError(.bodyTooLarge, "The body has more than \(limit) bytes.")
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
