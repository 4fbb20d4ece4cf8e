internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport

extension Engine {
    /// Returns the body of a handle's response that arrived in one piece, and reports it; nil if it has not, or if the
    /// handle is suspended. Most bodies are short, and the frame of ``collect(_:of:)`` is not.
    @inline(never)
    func takeWhole(_ response: StreamedResponse, of flight: Flight) -> Data? {
        guard let control = flight.control, !control.isSuspended, let whole = response.body.whole,
            whole.count <= maximumBodySize
        else { return nil }
        flight.observer?.didReceiveWholeBody(bytes: whole.count) {
            response.head.bodyLength(answering: flight.request.method)
        }
        return whole
    }

    /// Waits while a handle is suspended that has its whole body, and is to get it when it goes on.
    @inline(never)
    func waitWhileSuspended(_ flight: Flight, _ url: URL) async throws(SessionError) {
        try await timed(flight) { () async throws(SessionError) in try await flight.control.waitWhileSuspended(url) }
    }

    /// Reads the body of a handle's response, reports its progress, and pauses while the handle is suspended.
    @inline(never)
    func collect(_ response: StreamedResponse, of flight: Flight) async throws(SessionError) -> Data {
        flight.observer?.willReceiveBody(length: response.head.bodyLength(answering: flight.request.method))
        var collector = BodyCollector(limit: maximumBodySize)
        var chunks = TransferReader(response, of: flight)
        do {
            while let chunk = try await chunks.next() { try collector.append(chunk) }
        } catch {
            throw error.adding(response)
        }
        return collector.bytes
    }
}

extension HTTPResponse {
    /// Returns the length of the content, if the head declares it (RFC 9110, section 8.6).
    func bodyLength(answering method: HTTPRequest.Method) -> Int64? {
        if method == .head || status.code == 204 || status.code == 304 { return 0 }
        // Content-Length counts coded bytes, and the progress decoded ones; Transfer-Encoding overrides it (RFC 9112,
        // 6.3).
        if headerFields.contains(.contentEncoding) || headerFields.contains(.transferEncoding) { return nil }
        return headerFields[.contentLength].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
