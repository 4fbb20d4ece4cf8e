internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

extension Engine {
    /// Runs a handle's request, reports its progress, and pauses the transfer while the handle is suspended.
    func run<S: ResponseSerializer>(
        _ flight: Flight, _ serializer: S, driver: TaskDriver<SessionResponse<S.Value>>
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        driver.shared.withLock { $0.serializer = serializer }
        do {
            return try await decoding(flight) { flight async throws(SessionError) in
                let (response, body) = try await whole(flight) { flight async throws(SessionError) in
                    let response = try await self.run(flight)
                    return (response, try await self.collect(response, of: flight))
                }
                return try response.read(body, answering: flight.request.method, by: serializer)
            }
        } catch {
            throw error.adding(metrics: driver.attemptMetrics)
        }
    }

    private func collect(_ response: StreamedResponse, of flight: Flight) async throws(SessionError) -> Data {
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
        if headerFields.contains(.contentEncoding) || headerFields.contains(.transferEncoding) { return nil }
        return headerFields[.contentLength].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
