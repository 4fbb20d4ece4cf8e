internal import Dispatch
internal import Foundation  // NSError
internal import LinnetSession
internal import Synchronization

extension AFURLSessionManager {
    /// How often an upload that cannot be stored is tried again, by AFNetworking 3.
    private static let attemptsToRecreate = 3

    /// Makes the session, which adopts the tasks of an earlier process.
    func openInBackground() {
        // An earlier process has used smaller numbers, which are not known yet.
        state.withLock { $0.lastNumber = Int(Date.now.timeIntervalSince1970 * 1e6) }
        _ = session
    }

    func open(_ engine: any BackgroundEngine, of session: URLSession) {
        engine.open { [weak self, weak session] transfers in
            if let self, let session { adopt(transfers, in: session) }
        }
    }

    // MARK: Adopted tasks

    private func adopt(_ transfers: [BackgroundTransfer], in session: URLSession) {
        let awaited = transfers.count { $0.state != .suspended }
        state.withLock { $0.awaitedTasks = awaited }
        if awaited == 0 { postDidFinishEvents(session) }
        for transfer in transfers { adopt(transfer, in: session) }
    }

    private func adopt(_ transfer: BackgroundTransfer, in session: URLSession) {
        let request = transfer.originalRequest.map { URLRequest($0) }
        let task: URLSessionTask
        switch transfer.content {
        case .download: task = URLSessionDownloadTask(transfer.number, request, transfer) { _ in }
        case .upload: task = URLSessionUploadTask(transfer.number, request, transfer) { _ in }
        }
        let isSuspended = transfer.state == .suspended
        task.changes.withLock { changes in
            (changes.isRunning, changes.hasStarted, changes.own) = (!isSuspended, true, task)
        }
        add(task)
        let steps = steps(of: transfer, to: nil, in: session) { [weak self] in
            if !isSuspended { self?.endAwaited(session) }
        }
        connect(task, to: steps, TaskBlocks(nil, nil, nil), in: session)
    }

    private func endAwaited(_ session: URLSession) {
        let isLast = state.withLock { state in
            state.awaitedTasks -= 1
            return state.awaitedTasks == 0
        }
        if isLast { postDidFinishEvents(session) }
    }

    private func postDidFinishEvents(_ session: URLSession) {
        DispatchQueue.main.async { [blocks] in blocks.current.didFinishBackgroundEvents?(session) }
    }

    // MARK: Making

    /// Makes an upload of a background session.
    ///
    /// - Throws: ``SessionError/Code/invalidRequest`` without a file, as for data tasks, which a background session has
    ///   none of.
    func backgroundUpload(
        _ request: URLRequest, file: URL?, in session: URLSession, number: Int
    ) throws(SessionError) -> Transfer {
        guard let file else {
            throw SessionError(
                .invalidRequest,
                "A background session has downloads and uploads of files, and neither data tasks nor uploads of data or "
                    + "streams.",
                url: request.url)
        }
        var request = request
        request.body = nil
        let attempts = attemptsToRecreateUploadTasksForBackgroundSessions ? 1 + Self.attemptsToRecreate : 1
        return try steps(.upload(file: file), request, attempts: attempts, to: nil, in: session, number: number)
    }

    /// Makes a download of a background session.
    func backgroundDownload(
        _ request: URLRequest, isResumed: Bool, to destination: DestinationBlock?, in session: URLSession, number: Int
    ) throws(SessionError) -> Transfer {
        guard !isResumed else {
            throw SessionError(
                .invalidRequest,
                "A background session keeps the parts of its downloads, and does not take resume data: suspend the task in "
                    + "place of cancelling it.",
                url: request.url)
        }
        return try steps(.download, request, attempts: 1, to: destination, in: session, number: number)
    }

    private func steps(
        _ content: BackgroundTransfer.Content, _ request: URLRequest, attempts: Int,
        to destination: DestinationBlock?, in session: URLSession, number: Int
    ) throws(SessionError) -> Transfer {
        _ = try session.result.get()
        guard let engine = session.engine else { throw SessionError(.shutDown, "The session has no engine.") }
        let transfer = BackgroundTransfer(
            number: number, content, of: try request.made(), attempts: attempts, by: engine, on: blocks.queue)
        return steps(of: transfer, to: destination, in: session) {}
    }

    /// The steps at the end of a transfer: its file is moved on the queue of the session, and when all blocks were
    /// called, the task is forgotten.
    private func steps(
        of transfer: BackgroundTransfer, to destination: DestinationBlock?, in session: URLSession,
        didReport: @escaping @Sendable () -> Void
    ) -> Transfer {
        Transfer(
            task: transfer,
            onEnd: { [self, weak transfer] task, report in
                transfer?.onEnd { [self] outcome in
                    blocks.queue.execute { [self] in
                        report(placed(outcome, of: task() as? URLSessionDownloadTask, at: destination, in: session))
                    }
                }
            },
            didReport: { [number = transfer.number] in
                session.engine?.remove(number)
                didReport()
            })
    }

    /// Moves the file of a download to the destination that a block chooses: the session's, or else the task's.
    private func placed(
        _ outcome: BackgroundOutcome, of task: URLSessionDownloadTask?, at destination: DestinationBlock?,
        in session: URLSession
    ) -> TransferOutcome {
        var result = TransferOutcome(outcome)
        guard let task, outcome.error == nil else { return result }
        result.isRead = false
        // An earlier process may have moved it, and ended before it could note that.
        guard let file = outcome.file, FileManager.default.fileExists(atPath: file.path) else { return result }
        let response = result.response ?? URLResponse(url: outcome.url, head: .init(status: .ok))
        let chosen = blocks.current.didFinishDownloading?(session, task, file) ?? destination?(file, response)
        do throws(SessionError) {
            result.file = try downloadOptions.move(file, to: chosen ?? .newTemporaryFile)
        } catch {
            result.error = error.nsError
        }
        return result
    }

    /// Calls the blocks of the session with the bytes of a task.
    func follow(_ task: URLSessionTask, _ transfer: BackgroundTransfer, in session: URLSession) {
        let last = Mutex(transfer.progress)
        transfer.onProgress { [blocks, weak task] progress in
            let former = last.withLock { last in
                defer { last = progress }
                return last
            }
            guard let task else { return }
            let (sent, written) = (progress.upload, progress.download)
            if sent.completed > former.upload.completed {
                let bytes = sent.completed - former.upload.completed
                blocks.current.didSendBody?(session, task, bytes, sent.completed, sent.total ?? -1)
            }
            if written.completed > former.download.completed, let task = task as? URLSessionDownloadTask {
                let bytes = written.completed - former.download.completed
                blocks.current.didWriteData?(session, task, bytes, written.completed, written.total ?? -1)
            }
        }
    }
}
