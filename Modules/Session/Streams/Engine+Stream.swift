internal import FoundationEssentials
internal import LinnetSerialization

extension Engine {
    /// Runs a stream task, in which each chunk waits until the reader has taken the previous one.
    func stream(
        _ flight: Flight, _ validation: ResponseValidation, _ link: StreamLink,
        driver: TaskDriver
    ) async throws(SessionError) -> SessionResponse<Void> {
        do {
            let response = try await whole(flight, keepsLateValue: true) { flight async throws(SessionError) in
                let response = try await self.run(flight)
                flight.observer?.willReceiveBody(length: response.head.bodyLength(answering: flight.request.method))
                try await response.validate(by: validation, answering: flight.request.method)
                link.begin(response)
                try await self.hand(response, to: link, flight)
                return response
            }
            link.end(.success(response.body.completion))
            return response.with(())
        } catch {
            let error = error.adding(metrics: driver.attemptMetrics)
            link.end(.failure(error))
            throw error
        }
    }

    private func hand(
        _ response: StreamedResponse, to link: StreamLink, _ flight: Flight
    ) async throws(SessionError) {
        var chunks = TransferReader(response, of: flight)
        do throws(SessionError) {
            while let chunk = try await chunks.next() {
                guard await link.give(chunk) else { throw SessionError.cancelled(response.url) }
            }
        } catch {
            throw error.adding(response)
        }
    }
}

extension TransferTask where Value == Void {
    /// The response, once its head was received and accepted. Its body is read as it arrives, by one reader however
    /// often the response is asked for.
    ///
    /// ```swift
    /// let task = session.call(request).streamTask()
    /// task.resume()
    /// for try await chunk in try await task.response.body { consume(chunk) }
    /// ```
    /// Awaiting it starts a task that was never started. It throws the task's error, such as for a response that the
    /// validation of ``HTTPCall/streamTask(validation:)`` refuses. Nothing is read from the connection while the reader
    /// is busy; dropping the body before its end cancels the task. The task completes when the end of the body was read
    /// from the connection, and waits for a reader until then.
    public var response: StreamedResponse {
        get async throws(SessionError) {
            guard case .stream(let link) = link else { throw .cancelled(driver.request?.url) }
            if !hasStarted { resume() }
            let response = try await link.response { [driver] in driver.cancel(.cancelled(driver.request?.url)) }
            return response.reporting()
        }
    }
}
