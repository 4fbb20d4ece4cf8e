internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetSerialization
internal import LinnetSession
internal import LinnetTransport
internal import Synchronization

/// One attempt of a task.
struct Attempt: Sendable {
    /// The end of an attempt.
    struct End: Sendable {
        let event: TaskMachine.Event
        let result: TransferResult
    }

    let record: TaskRecord
    let session: HTTPSession
    let journal: Journal
    let folder: BackgroundFolder
    let policy: RetryPolicy
    let control: AttemptControl
    let faults: FaultPoints
    /// The limit of all transfers.
    let bandwidth: Bandwidth
    let report: @Sendable (TransferProgress) -> Void

    var definition: TransferDefinition { record.definition }

    /// Performs the attempt. It does not throw: an error is an end like another.
    func run() async -> End {
        var result = record.result
        result.boot = BootID.current
        do {
            switch definition.kind {
            case .download: try await download(&result)
            case .upload: try await upload(&result)
            }
            return End(event: .succeed, result: result)
        } catch {
            return end(with: error, &result)
        }
    }

    private func end(with error: BackgroundError, _ result: inout TransferResult) -> End {
        if let failure = control.failure {
            return End(event: .fail(StoredError(failure), .doNotRetry, hadProgress: false), result: result)
        }
        let session = error.underlying as? SessionError
        if control.isStopped, session?.code == .cancelled || error.code == .cancelled {
            return End(event: .interrupt, result: result)
        }
        let hadProgress = result.received > record.result.received
        let decision = decision(on: error, session, after: 1 + (hadProgress ? 0 : record.machine.failures))
        return End(event: .fail(StoredError(error), decision, hadProgress: hadProgress), result: result)
    }

    private func decision(on error: BackgroundError, _ session: SessionError?, after failures: Int)
        -> RetryPolicy.Decision
    {
        // A full disk is no failure of the transfer: it waits for room.
        if error.code == .diskFull { return .retry(after: .seconds(60)) }
        guard let session, error.code == .transferFailed, policy.methods.contains(definition.requestMethod) else {
            return .doNotRetry
        }
        // The part cannot be used, and the next attempt begins without it.
        if session.code == .invalidResumeData { return failures <= policy.limit ? .retry(after: .zero) : .doNotRetry }
        let isStatus = session.code == .unacceptableStatus
        return policy.decide(after: failures, errorCode: isStatus ? nil : session.code, head: session.head)
    }

    /// Waits after bytes were transferred, for the limit of the task and for the limit of all.
    var pace: @Sendable (Int) async -> Void {
        { [own = control.bandwidth, bandwidth] bytes in
            await own.pace(bytes)
            await bandwidth.pace(bytes)
        }
    }

    /// The call of the attempt, with the fields that the session adds now.
    func call() throws(BackgroundError) -> HTTPCall {
        guard definition.requestURL != nil else {
            throw BackgroundError(.invalidRequest, "The URL \(definition.url) cannot be requested.")
        }
        var call = session.call(definition.requestMethod, definition.url).headers(definition.header)
            .timeout(.seconds(Int64.max)).retry(.never).tag(definition.tag)
        if let body = definition.body { call = call.body(.data(body)) }
        let waits = session.reachabilityMonitor != nil
        let allowsExpensiveNetworks = definition.allowsExpensiveNetworks
        // A wait for the network is no failed attempt.
        if waits { call = call.options { $0.waitsForConnectivity = true } }
        if !allowsExpensiveNetworks { call = call.options { $0.allowsExpensiveNetworks = false } }
        return call
    }
}

/// Runs blocking work on the threads for files.
@concurrent
func onFileThreads<Value: Sendable>(
    _ body: @Sendable () throws(BackgroundError) -> Value
) async throws(BackgroundError) -> Value {
    try await withTaskExecutorPreference(FileExecutor.shared) { () async throws(BackgroundError) in try body() }
}
