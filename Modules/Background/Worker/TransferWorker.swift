public import FoundationEssentials
internal import LinnetSerialization
internal import LinnetSession

/// Transfers the transfers of a ``TransferStore``, beside other workers.
///
/// ```swift
/// let worker = try await TransferWorker(store, directory: URL(filePath: "/var/lib/mirror/worker")) { transfer in
///     try .file(transfer.destination, in: mirror)
/// }
/// try await worker.run()    // until the task is cancelled
/// ```
/// A worker leases transfers while it has room, renews its leases while it transfers, and ends them with the result. If
/// its lease is lost, because it was away for longer than ``Configuration/leaseDuration``, it stops the transfer and
/// drops what it has. Before a file is moved to its destination, the worker asks the store whether the lease is its
/// own.
///
/// A download is checked as one of a ``BackgroundSession``, and reaches its destination complete or not at all. Its
/// part belongs to the worker: the same worker, also in a later process with the same directory, continues it with a
/// strong validator, and another worker begins again. Every ten minutes the worker removes the parts of transfers that
/// have ended elsewhere or have failed: until then, a failed transfer that is retried continues with its part.
///
/// Uploads are for workers that find their files (``Configuration/source``). An attempt sends the file from its
/// beginning, after the worker has asked the store whether the lease is its own.
public final class TransferWorker: Sendable {
    /// The directory of the worker's parts. One worker at a time can have it: from its initializer to the end of its
    /// run, and during each later run.
    public let directory: URL

    private let place: WorkerPlace
    private let engine: WorkerEngine

    /// Makes a worker.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - directory: A directory for the worker's own files, which is created if it is missing, with the permissions
    ///     0700. It is checked as ``BackgroundSession`` checks its own. Parts of objects are in it; parts of files are
    ///     beside their destinations.
    ///   - configure: Changes the default configuration.
    ///   - destination: Turns the name of a destination (``StoredTransfer/destination``) into a file or an object, for
    ///     each attempt. An error fails the attempt, and the retry policy decides. Names come from each program that
    ///     can add transfers: ``Destination/file(_:in:)`` refuses those that would leave a folder.
    /// - Throws: ``BackgroundError`` with ``BackgroundError/Code/untrustedDirectory``,
    ///   ``BackgroundError/Code/storageFailed``, ``BackgroundError/Code/directoryInUse``, or
    ///   ``BackgroundError/Code/invalidOptions`` if `configure` throws.
    public init(
        _ store: any TransferStore, directory: URL,
        configure: (inout Configuration) throws -> Void = { _ in },
        destination: @escaping @Sendable (StoredTransfer) async throws -> Destination
    ) async throws(BackgroundError) {
        var configuration = Configuration()
        do {
            try configure(&configuration)
        } catch {
            throw BackgroundError(.invalidOptions, "The configuration cannot be used: \(error)", underlying: error)
        }
        let place = try WorkerPlace(directory: directory)
        try await onFileThreads { () throws(BackgroundError) in try place.take() }
        self.directory = directory
        self.place = place
        engine = WorkerEngine(store: store, place: place, configuration: configuration, destination: destination)
    }

    /// Transfers until the task of the caller is cancelled, or, on request, until the store has no transfer that waits
    /// or is leased, by this worker or another. Paused transfers do not count.
    ///
    /// A cancelled worker stops its transfers, keeps their parts, and gives the leases back before the function
    /// returns, so that other workers go on at once; a closure of ``Destination/object(_:)`` that has begun is awaited.
    /// While the store cannot be reached, transfers go on until their leases end, and the worker tries again each
    /// second. Call the function again only after it has returned.
    ///
    /// - Throws: ``BackgroundError/Code/invalidOptions`` if no session can be made, and
    ///   ``BackgroundError/Code/directoryInUse`` if another worker has taken the directory since the last run.
    public func run(untilEmpty: Bool = false) async throws(BackgroundError) {
        try await onFileThreads { [place] () throws(BackgroundError) in try place.take() }
        // The store answers also after the caller's task was cancelled: leases are to be given back.
        let work = Task { [engine] in await engine.run(untilEmpty: untilEmpty) }
        let failure = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            engine.stop()
        }
        engine.reset()
        // Not when the worker is freed: what the caller made of it can be alive a moment longer than its run.
        place.leave()
        if let failure { throw failure }
    }
}
