internal import FoundationEssentials
internal import LinnetSession
internal import Synchronization

/// The attempt of a lease, by the code of a session's attempts.
final class WorkerAttempt: Sendable {
    let lease: TransferLease
    let control: AttemptControl

    private let store: any TransferStore
    private let place: WorkerPlace
    private let session: HTTPSession
    private let configuration: TransferWorker.Configuration
    private let leaseDuration: Duration
    private let bandwidth: Bandwidth
    private let destination: @Sendable (StoredTransfer) async throws -> TransferWorker.Destination
    private let progress = Mutex<TransferProgress?>(nil)
    /// The download whose files are to be removed.
    private let record = Mutex<TaskRecord?>(nil)

    init(
        lease: TransferLease, store: any TransferStore, place: WorkerPlace, session: HTTPSession,
        configuration: TransferWorker.Configuration, leaseDuration: Duration, bandwidth: Bandwidth,
        destination: @escaping @Sendable (StoredTransfer) async throws -> TransferWorker.Destination
    ) {
        self.lease = lease
        self.store = store
        self.place = place
        self.session = session
        self.configuration = configuration
        self.leaseDuration = leaseDuration
        self.bandwidth = bandwidth
        self.destination = destination
        control = AttemptControl(bytesPerSecond: lease.transfer.definition.bytesPerSecond)
    }

    /// The renewal of the lease, with the progress.
    var renewal: TransferLease.Renewal { TransferLease.Renewal(lease, progress: progress.withLock { $0 }) }

    /// Performs the attempt. It does not throw: an error is an end like another.
    func run() async -> TransferLease.End {
        switch lease.transfer.kind {
        case .download: await download()
        case .upload: await upload()
        }
    }

    private func download() async -> TransferLease.End {
        let place: TransferWorker.Destination
        do {
            place = try await destination(lease.transfer)
        } catch {
            return failed("The destination could not be found", error)
        }
        let record = self.place.record(of: lease, at: place.file)
        self.record.withLock { $0 = record }
        let end = await attempt(record).run()
        switch end.event {
        case .succeed:
            guard let put = place.put else { return TransferLease.End(.succeed, end.result) }
            return await self.put(record.definition.fileURL, put, end.result)
        default: return self.end(end)
        }
    }

    private func upload() async -> TransferLease.End {
        let source: TransferWorker.Source
        do {
            guard let find = configuration.source else {
                throw BackgroundError(.fileFailed, "This worker does not find files of uploads.")
            }
            source = try await find(lease.transfer)
        } catch {
            return failed("The file could not be found", error)
        }
        defer { if source.isTemporary { try? FileManager.default.removeItem(at: source.file) } }
        let record: TaskRecord
        do throws(BackgroundError) {
            record = try await onFileThreads { () throws(BackgroundError) in
                self.place.record(of: lease, sending: source.file)
            }
            // A request cannot be taken back, and finding the file may have taken longer than the lease.
            try await store(record.result)
        } catch {
            return TransferLease.End(.interrupt)
        }
        return end(await attempt(record).run())
    }

    private func end(_ end: Attempt.End) -> TransferLease.End {
        // Such as a store that could not be asked, or a connection that was closed.
        if case .fail = end.event, control.isStopped { return TransferLease.End(.interrupt, end.result) }
        return TransferLease.End(end.event, end.result)
    }

    private func attempt(_ record: TaskRecord) -> Attempt {
        Attempt(
            record: record, session: session,
            store: { [weak self] result throws(BackgroundError) in try await self?.store(result) },
            folder: place.folder, folders: place.folders, policy: configuration.retryPolicy, control: control,
            faults: FaultPoints(nil), bandwidth: bandwidth, lookUp: configuration.credential,
            report: { [weak self] progress in self?.progress.withLock { $0 = progress } })
    }

    /// Stores the results, if the lease is still the worker's. Otherwise the attempt ends, before its file is moved.
    private func store(_ result: TransferResult) async throws(BackgroundError) {
        let status: TransferLease.Status?
        do throws(BackgroundError) {
            status = try await store.renew([TransferLease.Renewal(lease, result: result)], for: leaseDuration).first
        } catch {
            control.stop()
            throw BackgroundError(.cancelled, "The store could not be asked: \(error.message)", underlying: error)
        }
        guard let status, status != .held else { return }
        control.stop()
        // One that will be paused or cancelled completes if its file only has to be moved.
        guard status == .lost else { return }
        throw BackgroundError(.cancelled, "The lease was lost.")
    }

    private func put(
        _ file: URL, _ put: @Sendable (URL) async throws -> Void, _ result: TransferResult
    ) async -> TransferLease.End {
        defer { try? FileManager.default.removeItem(at: file) }
        do {
            try await put(file)
            return TransferLease.End(.succeed, result)
        } catch {
            return failed("The object could not be put", error)
        }
    }

    /// The end of an attempt that a closure has failed.
    private func failed(_ problem: String, _ error: any Error) -> TransferLease.End {
        let failure = error as? BackgroundError ?? BackgroundError(.fileFailed, "\(problem): \(error)")
        let attempts = lease.transfer.machine.failures + 1
        let policy = configuration.retryPolicy
        let isFinal = [.invalidDestination, .sourceChanged].contains(failure.code) || attempts > policy.limit
        return .failed(failure, isFinal ? .doNotRetry : .retry(after: policy.backoff.wait(after: attempts)))
    }

    /// Removes the files of a transfer that has ended.
    func removeFiles(after state: BackgroundTask.State) async {
        guard let record = record.withLock({ $0 }), state == .completed || state == .cancelled else { return }
        await place.remove(record, hasOthers: lease.fencingNumber > 1)
    }
}
