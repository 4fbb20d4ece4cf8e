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
    /// Stores the results of the attempt. A store that has given the task to another worker throws, which ends the
    /// attempt.
    let store: @Sendable (TransferResult) async throws(BackgroundError) -> Void
    let folder: BackgroundFolder
    let folders: FolderSynchronizer
    let policy: RetryPolicy
    let control: AttemptControl
    let faults: FaultPoints
    /// The limit of all transfers.
    let bandwidth: Bandwidth
    /// Looks up a credential by its name.
    var lookUp: (@Sendable (_ name: String, _ url: URL) async throws -> HTTPFields?)?
    let report: @Sendable (TransferProgress) -> Void
    /// Called when all bytes of a download are there, before they are checked.
    var didReceive: (@Sendable () -> Void)?

    var definition: TransferDefinition { record.definition }

    /// Performs the attempt. It does not throw: an error is an end like another.
    func run() async -> End {
        var result = record.result
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
        if let session, let head = session.head {
            result.take(head, session.body, without: self.session.credentialNames)
        }
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
        // These are no failures of the transfer: it waits for room, or for the credential.
        if error.code == .diskFull || error.code == .credentialUnavailable { return .retry(after: .seconds(60)) }
        guard let session, error.code == .transferFailed, mayBeRepeated else { return .doNotRetry }
        // The part cannot be used, and the next attempt begins without it.
        if session.code == .invalidResumeData { return failures <= policy.limit ? .retry(after: .zero) : .doNotRetry }
        let isStatus = session.code == .unacceptableStatus
        return policy.decide(after: failures, errorCode: isStatus ? nil : session.code, head: session.head)
    }

    /// Whether the request may be sent again. The stored Idempotency-Key is the same for each attempt, so the server
    /// performs the request once.
    private var mayBeRepeated: Bool {
        policy.methods.contains(definition.requestMethod) || definition.header.contains(.idempotencyKey)
    }

    /// Waits after bytes were transferred, for the limit of the task and for the limit of all.
    var pace: @Sendable (Int) async -> Void {
        { [own = control.bandwidth, bandwidth] bytes in
            await own.pace(bytes)
            await bandwidth.pace(bytes)
        }
    }

    /// The call of the attempt, with the credential that it names, and with the fields that the session adds now.
    func call() async throws(BackgroundError) -> HTTPCall {
        guard let url = definition.requestURL else {
            throw BackgroundError(.invalidRequest, "The URL \(definition.url) cannot be requested.")
        }
        var call = session.call(definition.requestMethod, definition.url).headers(definition.header)
            .timeout(.seconds(Int64.max)).retry(.never).tag(definition.tag)
        if let name = definition.credential { call = call.headers(try await credential(name, url)) }
        if let body = definition.body { call = call.body(.data(body)) }
        let waits = session.reachabilityMonitor != nil
        let allowsExpensiveNetworks = definition.allowsExpensiveNetworks
        // A wait for the network is no failed attempt.
        if waits { call = call.options { $0.waitsForConnectivity = true } }
        if !allowsExpensiveNetworks { call = call.options { $0.allowsExpensiveNetworks = false } }
        return call
    }
}

extension Attempt {
    /// The fields of the credential that the task names.
    private func credential(_ name: String, _ url: URL) async throws(BackgroundError) -> HTTPFields {
        let found: HTTPFields?
        do {
            found = try await lookUp?(name, url)
        } catch {
            throw BackgroundError(
                .credentialUnavailable, "The credential \"\(name)\" could not be looked up: \(error)", underlying: error
            )
        }
        guard let found else {
            throw BackgroundError(.credentialUnavailable, "This program has no credential \"\(name)\".")
        }
        let names = session.credentialNames
        if let field = found.first(where: { !names.contains($0.name) }) {
            throw BackgroundError(
                .invalidRequest,
                "The field \(field.name) of the credential \"\(name)\" would be sent to other origins after a redirect: add it "
                    + "to the session's redaction.")
        }
        return found
    }
}

/// Runs blocking work on the threads for files.
@concurrent
func onFileThreads<Value: Sendable>(
    _ body: @Sendable () throws(BackgroundError) -> Value
) async throws(BackgroundError) -> Value {
    try await withTaskExecutorPreference(FileExecutor.shared) { () async throws(BackgroundError) in try body() }
}
