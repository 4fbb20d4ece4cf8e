public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization
public import LinnetSession
internal import Synchronization

// AFURLSessionManager's tasks. Each is suspended until it is resumed, and calls `completionHandler` exactly once, after
// all progress, on the session's callback executor. The session's response serializer reads the responses. They are
// calls (``HTTPCall``) with callbacks; new programs should use calls directly.
extension HTTPSession {
    /// dataTaskWithRequest:uploadProgress:downloadProgress:completionHandler:
    public func dataTask(
        with request: SessionRequest, uploadProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        downloadProgress: (@Sendable (TransferProgress) -> Void)? = nil,
        completionHandler: (@Sendable (Result<SessionResponse<JSONValue?>, SessionError>) -> Void)? = nil
    ) -> DataTask<JSONValue?> {
        call(request).jsonTask().observed(uploadProgress, downloadProgress, completionHandler)
    }

    /// uploadTaskWithRequest:fromFile:progress:completionHandler:
    ///
    /// An unreadable file fails the task after it is resumed.
    public func uploadTask(
        with request: SessionRequest, fromFile file: URL, progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completionHandler: (@Sendable (Result<SessionResponse<JSONValue?>, SessionError>) -> Void)? = nil
    ) -> UploadTask<JSONValue?> {
        call(request).body(file: file).jsonTask().observed(progress, nil, completionHandler)
    }

    /// uploadTaskWithRequest:fromData:progress:completionHandler:
    public func uploadTask(
        with request: SessionRequest, from data: Data, progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completionHandler: (@Sendable (Result<SessionResponse<JSONValue?>, SessionError>) -> Void)? = nil
    ) -> UploadTask<JSONValue?> {
        call(request).body(.data(data)).jsonTask().observed(progress, nil, completionHandler)
    }

    /// uploadTaskWithStreamedRequest:progress:completionHandler:
    ///
    /// The request provides the body.
    public func uploadTask(
        withStreamedRequest request: SessionRequest, progress: (@Sendable (TransferProgress) -> Void)? = nil,
        completionHandler: (@Sendable (Result<SessionResponse<JSONValue?>, SessionError>) -> Void)? = nil
    ) -> UploadTask<JSONValue?> {
        let call = request.body.map { self.call(request).body($0) } ?? self.call(request)
        return call.jsonTask().observed(progress, nil, completionHandler)
    }

    /// downloadTaskWithRequest:progress:destination:completionHandler:
    public func downloadTask(
        with request: SessionRequest, progress: (@Sendable (TransferProgress) -> Void)? = nil,
        destination: @escaping @Sendable (_ temporaryFile: URL, _ response: HTTPResponse) throws -> URL,
        completionHandler: (@Sendable (Result<SessionResponse<URL>, SessionError>) -> Void)? = nil
    ) -> DownloadTask {
        call(request).downloadTask(chooseDestination: destination).observed(nil, progress, completionHandler)
    }

    /// downloadTaskWithResumeData:progress:destination:completionHandler:
    ///
    /// The request is made like `get(_:_:)`, with the header fields of the session and of its request serializer.
    public func downloadTask(
        withResumeData resumeData: ResumeData, progress: (@Sendable (TransferProgress) -> Void)? = nil,
        destination: @escaping @Sendable (_ temporaryFile: URL, _ response: HTTPResponse) throws -> URL,
        completionHandler: (@Sendable (Result<SessionResponse<URL>, SessionError>) -> Void)? = nil
    ) -> DownloadTask {
        get(resumeData.url.absoluteString).downloadTask(resuming: resumeData, chooseDestination: destination)
            .observed(nil, progress, completionHandler)
    }
}

extension TransferTask {
    /// Returns the task with the callbacks of AFURLSessionManager.
    fileprivate func observed(
        _ uploadProgress: (@Sendable (TransferProgress) -> Void)?,
        _ downloadProgress: (@Sendable (TransferProgress) -> Void)?,
        _ completionHandler: (@Sendable (Result<SessionResponse<Value>, SessionError>) -> Void)?
    ) -> Self {
        if let uploadProgress { onProgress(of: \.upload, uploadProgress) }
        if let downloadProgress { onProgress(of: \.download, downloadProgress) }
        if let completionHandler { onCompletion(completionHandler) }
        return self
    }

    /// Calls a function with the progress in one direction: at first, after each change of its bytes, and at its end.
    private func onProgress(
        of direction: any KeyPath<TaskProgress, TransferProgress> & Sendable,
        _ callback: @escaping @Sendable (TransferProgress) -> Void
    ) {
        let last = Mutex(TransferProgress?.none)
        onProgress { progress in
            let progress = progress[keyPath: direction]
            let isNew = last.withLock { last in
                defer { last = progress }
                return last?.completed != progress.completed || last?.isFinished != progress.isFinished
            }
            if isNew { callback(progress) }
        }
    }
}
