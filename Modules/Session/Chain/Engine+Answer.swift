internal import LinnetSerialization

extension Engine {
    /// Sends a request, and returns its response read by a serializer: the way of calls and of handles whose response
    /// is read into memory.
    func answer<S: ResponseSerializer>(
        _ flight: inout Flight, _ serializer: S
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        guard hasRetriers(flight) else { return try await answerOnce(&flight, serializer) }
        return try await decoding(flight) { flight async throws(SessionError) in
            var flight = flight
            return try await answerOnce(&flight, serializer)
        }
    }

    // Not inlined, so that the frame of a request that waits has nothing of what happens around it.
    @inline(never)
    private func answerOnce<S: ResponseSerializer>(
        _ flight: inout Flight, _ serializer: S
    ) async throws(SessionError) -> SessionResponse<S.Value> {
        let (response, body) = try await runWhole(&flight)
        return try response.read(body, answering: flight.request.method, by: serializer)
    }
}
