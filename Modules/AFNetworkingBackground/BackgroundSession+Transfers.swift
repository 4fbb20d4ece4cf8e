internal import FoundationEssentials
internal import LinnetAFNetworking
internal import LinnetBackground

extension BackgroundSession {
    /// The folder of the files of downloads, before they are moved to their destinations.
    private var downloads: URL { directory.appending(path: "downloads") }

    /// Stores a transfer as a task, whose group is the number of the transfer.
    func accept(
        _ transfer: BackgroundTransfer, _ settings: BackgroundSettings
    ) async throws(BackgroundError) -> BackgroundTask {
        guard let request = transfer.originalRequest else {
            throw BackgroundError(.invalidRequest, "The task has no request.")
        }
        let timeout = session.configuration.timeouts.request
        let configure = { (options: inout TransferOptions) in
            options.group = String(transfer.number)
            options.tag = transfer.taskDescription
            options.storesSecrets = settings.storesSecrets
            options.allowsExpensiveNetworks = request.options.allowsExpensiveNetworks ?? true
            options.createsDirectories = true
            if let timeout { options.timeout = timeout }
            if settings.isDiscretionary { options.priority = .low }
        }
        switch transfer.content {
        case .download:
            let file = downloads.appending(path: String(transfer.number))
            return try await download(session.call(request), to: file, configure: configure)
        case .upload(let file):
            return try await upload(session.call(request), fromFile: file, configure: configure)
        }
    }

    /// Removes the file of a download, if it was not moved.
    func removeDownload(_ number: Int) {
        try? FileManager.default.removeItem(at: downloads.appending(path: String(number)))
    }

    /// The transfer of a task that an earlier process has stored; nil for a task of another program, such as a tool.
    func transfer(of task: BackgroundTask, _ engine: JournalEngine) -> BackgroundTransfer? {
        guard let number = task.group.flatMap({ Int($0) }), number > 0 else { return nil }
        let content: BackgroundTransfer.Content
        switch task.kind {
        case .download:
            guard task.file.path == downloads.appending(path: String(number)).path else { return nil }
            content = .download
        case .upload: content = .upload(file: task.file)
        }
        let request = SessionRequest(
            url: task.url, method: task.method, headerFields: task.requestFields, body: nil, options: RequestOptions())
        return BackgroundTransfer(
            adopted: number, content, of: request, description: task.tag, isSuspended: task.state == .paused,
            progress: task.progress, by: engine, execute: engine.execute)
    }
}

extension BackgroundOutcome {
    /// The outcome of an ended task.
    init(_ task: BackgroundTask) {
        let head = task.status.map { HTTPResponse(status: $0, headerFields: task.responseFields) }
        self.init(head: head, url: task.url, body: task.responseBody)
        switch task.state {
        case .completed: if task.kind == .download { file = task.file }
        case .cancelled: error = SessionError(.cancelled, "The task was cancelled.")
        default:
            var error = SessionError(task.error ?? BackgroundError(.transferFailed, "The transfer failed."))
            (error.head, error.body) = (head, body)
            if error.url == nil { error.url = task.url }
            // The serializer judges the response to an upload.
            self.error = error.code == .unacceptableStatus && task.kind == .upload && head != nil ? nil : error
        }
    }
}

extension SessionError {
    /// The error of a background session as one of a request.
    init(_ error: BackgroundError) {
        if let underlying = error.underlying as? SessionError {
            self = underlying
        } else {
            let code = error.sessionCode ?? Self.codes[error.code] ?? .fileFailed
            self.init(code, error.message, underlying: error)
        }
    }

    /// The codes of errors. All other errors have the code of a file that cannot be written.
    private static let codes: [BackgroundError.Code: Code] = [
        .invalidRequest: .invalidRequest, .credentialRefused: .invalidRequest, .invalidOptions: .invalidRequest,
        .invalidIdentifier: .invalidRequest, .sourceChanged: .requestBodyFailed, .sizeMismatch: .invalidResponse,
        .digestMismatch: .invalidResponse, .credentialUnavailable: .authenticationCancelled, .expired: .timeout,
        .interrupted: .connectionLost, .cancelled: .cancelled, .shutDown: .shutDown,
    ]
}
