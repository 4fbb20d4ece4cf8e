internal import FoundationEssentials
internal import LinnetSerialization
internal import LinnetTransport
internal import Synchronization

// The work of the calls' handles. A request that could not be made gives a handle that fails when it is resumed.
extension HTTPSession {
    /// Makes a handle on a request, and reads its response by a serializer.
    func task<S: ResponseSerializer>(
        for request: Result<SessionRequest, SessionError>, kind: TaskKind, additions: Boxed<Flight.Additions>?,
        serializer: S
    ) -> TransferTask<S.Value> {
        handle(request, kind: kind) { [engine] driver throws(SessionError) in
            driver.shared.withLock { $0.serializer = serializer }
            do throws(SessionError) {
                var flight = try driver.flight(request.get(), additions)
                return try await engine.answer(&flight, serializer)
            } catch {
                throw error.adding(metrics: driver.attemptMetrics)
            }
        }
    }

    /// Makes a handle on a request, and writes its response to a file.
    func downloadTask(
        for request: Result<SessionRequest, SessionError>, additions: Boxed<Flight.Additions>?,
        _ makePlan: @escaping @Sendable (DownloadLink) throws(SessionError) -> DownloadPlan
    ) -> DownloadTask {
        let link = DownloadLink()
        return handle(request, kind: .download, link: .download(link)) {
            [engine] driver throws(SessionError) in
            do throws(SessionError) {
                return try await engine.download(driver.flight(request.get(), additions), makePlan(link))
            } catch {
                throw error.adding(metrics: driver.attemptMetrics)
            }
        }
    }

    /// A handle on a request whose response is read as it arrives.
    func streamTask(
        for request: Result<SessionRequest, SessionError>, additions: Boxed<Flight.Additions>?,
        _ validation: ResponseValidation
    ) -> StreamTask {
        let link = StreamLink()
        return handle(request, kind: .stream, link: .stream(link)) { [engine] driver throws(SessionError) in
            try await engine.stream(driver.flight(request.get(), additions), validation, link, driver: driver)
        }
    }

    private func handle<Value>(
        _ request: Result<SessionRequest, SessionError>, kind: TaskKind, link: TransferLink = .none,
        work: @escaping @Sendable (TaskDriver) async throws(SessionError) -> SessionResponse<Value>
    ) -> TransferTask<Value> {
        let output = TaskOutput<Value>()
        let driver = TaskDriver(
            request: try? request.get(), kind: kind, hub: hub, output: output,
            progressInterval: initialConfiguration.progressInterval,
            didEnd: { [registry] id, error in
                registry.remove(id)
                // A stream task may end without ever having run.
                if case .stream(let link) = link, let error { link.end(.failure(error)) }
            }, work: { driver throws(SessionError) in output.set(try await work(driver)) })
        let task = TransferTask<Value>(
            driver: driver, output: output, executor: initialConfiguration.callbackExecutor, link: link)
        registry.add(task)
        return task
    }
}
