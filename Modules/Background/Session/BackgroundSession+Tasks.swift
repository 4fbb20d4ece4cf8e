public import FoundationEssentials
public import LinnetSession

extension BackgroundSession {
    // MARK: Adding

    /// Adds a download. When the function has returned, the task survives a power failure.
    ///
    /// The request is stored as the call made it: method, URL with its query, header fields, and a body of up to 1 MiB
    /// in memory. Fields that the call's session adds are not stored; ``Configuration/session`` adds its own when the
    /// request is sent.
    ///
    /// - Parameters:
    ///   - call: The request. Its session is not used to send it.
    ///   - destination: The file. It appears when the download is complete and checked; until then its bytes are in a
    ///     hidden file beside it.
    ///   - configure: Changes the default options.
    /// - Returns: The task.
    /// - Throws: ``BackgroundError`` with ``BackgroundError/Code/invalidRequest``,
    ///   ``BackgroundError/Code/credentialRefused``, ``BackgroundError/Code/invalidDestination``,
    ///   ``BackgroundError/Code/destinationTaken``, ``BackgroundError/Code/invalidOptions``,
    ///   ``BackgroundError/Code/storageFailed`` or ``BackgroundError/Code/shutDown``.
    @discardableResult
    public func download(
        _ call: HTTPCall, to destination: URL, configure: (inout TransferOptions) -> Void = { _ in }
    ) async throws(BackgroundError) -> BackgroundTask {
        try checkIsOpen()
        let options = TransferOptions(configure)
        var definition = try Acceptance(call, options, sender: self.session).definition(.download, destination)
        definition.body = try Acceptance.storedBody(of: call)
        try await onFileThreads { [definition] () throws(BackgroundError) in try DestinationCheck.check(definition) }
        return try await add(definition)
    }

    /// Adds an upload of a file. When the function has returned, the task survives a power failure.
    ///
    /// The file is not copied. It must stay as it is until the upload has ended: each attempt checks that it is the
    /// same file, with the same size and time of modification.
    ///
    /// - Parameters:
    ///   - call: The request without a body; see ``download(_:to:configure:)``.
    ///   - file: The file to send.
    ///   - configure: Changes the default options.
    /// - Returns: The task.
    /// - Throws: The errors of ``download(_:to:configure:)``, and ``BackgroundError/Code/sourceChanged`` if there is no
    ///   readable file.
    @discardableResult
    public func upload(
        _ call: HTTPCall, fromFile file: URL, configure: (inout TransferOptions) -> Void = { _ in }
    ) async throws(BackgroundError) -> BackgroundTask {
        try checkIsOpen()
        let options = TransferOptions(configure)
        var definition = try Acceptance(call, options, sender: self.session).definition(.upload, file)
        guard try Acceptance.storedBody(of: call) == nil else { throw .bodyOfUpload }
        let path = definition.path
        definition.source = try await onFileThreads { () throws(BackgroundError) in
            FileState(path: path, followsLinks: true)
        }
        guard definition.source != nil else {
            throw BackgroundError(.sourceChanged, "There is no file \(path).")
        }
        return try await add(definition)
    }

    private func add(_ definition: TransferDefinition) async throws(BackgroundError) -> BackgroundTask {
        let record = try await journal.accept(definition)
        await announceChange()
        return record.task()
    }

    // MARK: Reading

    /// All tasks of the directory, in the order of their acceptance; ended ones for ``Configuration/keepsEndedTasks``.
    ///
    /// - Throws: ``BackgroundError/Code/storageFailed`` and ``BackgroundError/Code/shutDown``.
    public var tasks: [BackgroundTask] {
        get async throws(BackgroundError) {
            try checkIsOpen()
            let records = try await journal.tasks()
            return try await onFileThreads { () throws(BackgroundError) in records.map { value(of: $0) } }
        }
    }

    /// The task with an identifier, as it is now; nil if there is none.
    ///
    /// - Throws: ``BackgroundError/Code/storageFailed`` and ``BackgroundError/Code/shutDown``.
    public func task(_ id: BackgroundTask.ID) async throws(BackgroundError) -> BackgroundTask? {
        try checkIsOpen()
        guard let record = try await journal.task(id) else { return nil }
        return try await onFileThreads { () throws(BackgroundError) in value(of: record) }
    }

    /// The value of a task with its progress, which is read from its part if another process transfers it. It blocks.
    private func value(of record: TaskRecord) -> BackgroundTask {
        if let progress = feed.progress(of: record) { return record.task(progress) }
        // The journal knows the size of a file that was moved to its destination, or that is being moved there. A
        // cancelled download has no files.
        let isOver = [.completed, .cancelled].contains(record.machine.state) || record.result.placing != nil
        let hasPart = record.definition.kind == .download && record.machine.attempts > 0 && !isOver
        return record.task(hasPart ? folder.progress(of: record) : nil)
    }

    /// Waits until a task has ended, and returns it. Cancelling the caller's task ends the wait, and does not affect
    /// the task.
    ///
    /// - Throws: ``BackgroundError/Code/noSuchTask``, ``BackgroundError/Code/storageFailed``,
    ///   ``BackgroundError/Code/shutDown``, and ``BackgroundError/Code/cancelled`` if the caller's task is cancelled.
    public func ended(_ id: BackgroundTask.ID) async throws(BackgroundError) -> BackgroundTask {
        // The events begin before the state is read: an end between the two would otherwise be missed.
        let events = feed.events(withBacklog: false)
        guard let task = try await task(id) else { throw .noSuchTask(id) }
        if task.state.isEnd { return task }
        for await event in events {
            if let task = event.task, task.id == id, task.state.isEnd { return task }
        }
        throw Task.isCancelled ? BackgroundError(.cancelled, "The wait was cancelled.") : .shutDown
    }

    /// Waits until no task is waiting or running. Paused tasks are not waited for.
    ///
    /// - Throws: ``BackgroundError/Code/storageFailed``, ``BackgroundError/Code/shutDown``, and
    ///   ``BackgroundError/Code/cancelled`` if the caller's task is cancelled.
    public func drained() async throws(BackgroundError) {
        let rests = feed.rests()
        try checkIsOpen()
        if try await journal.isIdle() { return }
        for await _ in rests {
            try checkIsOpen()
            if try await journal.isIdle() { return }
        }
        throw Task.isCancelled ? BackgroundError(.cancelled, "The wait was cancelled.") : .shutDown
    }

    // MARK: Controlling

    /// Pauses a task. It keeps its part, and waits until it is resumed. Has no effect on an ended task.
    ///
    /// - Returns: The task. If a process transfers it, it is still running until that has stopped.
    /// - Throws: ``BackgroundError/Code/noSuchTask``, ``BackgroundError/Code/storageFailed`` and
    ///   ``BackgroundError/Code/shutDown``.
    @discardableResult
    public func pause(_ id: BackgroundTask.ID) async throws(BackgroundError) -> BackgroundTask {
        try await apply(.pause, to: id)
    }

    /// Lets a paused task go on. Has no effect on others.
    ///
    /// - Throws: The errors of ``pause(_:)``.
    @discardableResult
    public func resume(_ id: BackgroundTask.ID) async throws(BackgroundError) -> BackgroundTask {
        try await apply(.resume, to: id)
    }

    /// Cancels a task, and removes its part. Has no effect on an ended task; a transfer that completes meanwhile has
    /// completed.
    ///
    /// - Returns: The task. If a process transfers it, it is still running until that has stopped.
    /// - Throws: The errors of ``pause(_:)``.
    @discardableResult
    public func cancel(_ id: BackgroundTask.ID) async throws(BackgroundError) -> BackgroundTask {
        try await apply(.cancel, to: id)
    }

    /// Begins a failed or cancelled task again, with its options and a new timeout; a task that waits for its next
    /// attempt does not wait any longer. Has no effect on others.
    ///
    /// - Throws: The errors of ``pause(_:)``, and ``BackgroundError/Code/destinationTaken``.
    @discardableResult
    public func retry(_ id: BackgroundTask.ID) async throws(BackgroundError) -> BackgroundTask {
        try await apply(.retry, to: id)
    }

    /// The largest number of bytes a second of all tasks together, on average over about a second. The default is nil:
    /// no limit. Beyond it, transfers wait.
    ///
    /// - Throws: ``BackgroundError/Code/storageFailed`` and ``BackgroundError/Code/shutDown``.
    public var bandwidthLimit: Int64? {
        get async throws(BackgroundError) {
            try checkIsOpen()
            return try await journal.bandwidthLimit()
        }
    }

    /// Limits the bytes a second of all tasks together. The limit is stored with the tasks, and applies at once, also
    /// to running ones and to another process that transfers them.
    ///
    /// - Parameter bytesPerSecond: The limit, at least 1; nil for none.
    /// - Throws: ``BackgroundError/Code/invalidOptions``, ``BackgroundError/Code/storageFailed`` and
    ///   ``BackgroundError/Code/shutDown``.
    public func limitBandwidth(to bytesPerSecond: Int64?) async throws(BackgroundError) {
        try checkIsOpen()
        try TransferOptions.checkBandwidthLimit(bytesPerSecond)
        try await journal.setBandwidthLimit(bytesPerSecond)
        await announceChange()
    }

    /// Limits the bytes a second of one task, in place of ``TransferOptions/bytesPerSecond``. The limit applies at
    /// once, also while another process transfers the task.
    ///
    /// - Parameters:
    ///   - id: The task.
    ///   - bytesPerSecond: The limit, at least 1; nil for none of its own.
    /// - Returns: The task.
    /// - Throws: The errors of ``limitBandwidth(to:)``, and ``BackgroundError/Code/noSuchTask``.
    @discardableResult
    public func limitBandwidth(
        of id: BackgroundTask.ID, to bytesPerSecond: Int64?
    ) async throws(BackgroundError) -> BackgroundTask {
        try checkIsOpen()
        try TransferOptions.checkBandwidthLimit(bytesPerSecond)
        guard let record = try await journal.setBandwidthLimit(bytesPerSecond, of: id) else { throw .noSuchTask(id) }
        await announceChange()
        return record.task(feed.progress(of: record))
    }

    /// Removes an ended task from the journal, with what it has left of a part. Its completed file stays.
    ///
    /// - Returns: Whether there was an ended task with the identifier.
    /// - Throws: ``BackgroundError/Code/storageFailed`` and ``BackgroundError/Code/shutDown``.
    @discardableResult
    public func remove(_ id: BackgroundTask.ID) async throws(BackgroundError) -> Bool {
        try checkIsOpen()
        guard let record = try await journal.remove(id) else { return false }
        await runner.removeFiles(of: record)
        return true
    }

    private func apply(_ event: TaskMachine.Event, to id: BackgroundTask.ID) async throws(BackgroundError)
        -> BackgroundTask
    {
        try checkIsOpen()
        let record = try await journal.apply(
            event, to: id, at: Runner.now, recreations: configuration.attemptsToRecreateUploads)
        if record.machine.state == .cancelled { await runner.removeFiles(of: record) }
        await announceChange()
        return record.task(feed.progress(of: record))
    }

    /// Delivers a change of the journal to this session, and to the one that transfers.
    func announceChange() async {
        runner.ring()
        await feed.pull()
        presence.announceChange()
    }
}
