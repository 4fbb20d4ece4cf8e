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
                    var response = try await self.run(flight)
                    let body = try await self.collect(&response, of: flight.request.method, driver)
                    return (response, body)
                }
                return try response.read(body, answering: flight.request.method, by: serializer)
            }
        } catch {
            throw error.adding(metrics: driver.attemptMetrics)
        }
    }

    private func collect<Value>(
        _ response: inout StreamedResponse, of method: HTTPRequest.Method, _ driver: TaskDriver<SessionResponse<Value>>
    ) async throws(SessionError) -> Data {
        driver.willReceiveBody(length: response.head.bodyLength(answering: method))
        var collector = BodyCollector(limit: maximumBodySize)
        var chunks = response.body.makeAsyncIterator()
        do {
            try await driver.waitWhileSuspended()
            while let chunk = try await chunks.next() {
                try collector.append(chunk)
                driver.didReceiveBody(bytes: chunk.count)
                try await driver.waitWhileSuspended()
            }
        } catch {
            throw SessionError(thrown: error, url: response.url).adding(response)
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
