internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetTransport

extension Engine {
    /// Reads the body of a handle's response, reports its progress, and pauses while the handle is suspended.
    @inline(never)
    func collect(_ response: StreamedResponse, of flight: Flight) async throws(SessionError) -> Data {
        let length = { response.head.bodyLength(answering: flight.request.method) }
        var chunks = TransferReader(response, of: flight)
        do {
            if let whole = response.body.whole, whole.count <= maximumBodySize {
                try await chunks.takeWhole(whole, length: length)
                return whole
            }
            flight.observer?.willReceiveBody(length: length())
            var collector = BodyCollector(limit: maximumBodySize)
            while let chunk = try await chunks.next() { try collector.append(chunk) }
            return collector.bytes
        } catch {
            throw error.adding(response)
        }
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
