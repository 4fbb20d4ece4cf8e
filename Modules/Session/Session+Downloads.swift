public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization

extension Session {
    /// Makes a handle on a download to a file. Nothing is sent until ``TransferTask/resume()``.
    ///
    /// It behaves as ``download(for:to:options:hooks:)``.
    public func downloadTask(
        for request: Request, to destination: URL, options: DownloadOptions = DownloadOptions()
    ) -> DownloadTask {
        downloadTask(for: .success(request)) { link throws(SessionError) in
            try DownloadPlan(to: destination, options, link: link)
        }
    }

    /// Makes a handle on a download into a folder, under the name that the response suggests: by its Content-Disposition (RFC
    /// 6266), or else its URL. Nothing is sent until ``TransferTask/resume()``.
    ///
    /// The file is always in that folder and never hidden: only the last component of a suggested path is used, leading dots
    /// and control characters are removed, and an empty name is replaced by "download".
    public func downloadTask(
        for request: Request, into folder: URL, options: DownloadOptions = DownloadOptions()
    ) -> DownloadTask {
        downloadTask(for: .success(request)) { link throws(SessionError) in
            try DownloadPlan(into: folder, options, link: link)
        }
    }

    /// Makes a handle on a download whose destination is chosen when it is complete and valid. Nothing is sent until
    /// ``TransferTask/resume()``.
    ///
    /// `chooseDestination` gets the file in the system's folder for temporary files, which it may read but must leave there,
    /// and the response's head; it returns where the file is to go. It is called once, on a thread for files. An error that it
    /// throws fails the task with ``SessionError/Code/fileFailed``, as the underlying error, and the file is removed.
    public func downloadTask(
        for request: Request, options: DownloadOptions = DownloadOptions(),
        chooseDestination: @escaping @Sendable (_ temporaryFile: URL, _ response: HTTPResponse) throws -> URL
    ) -> DownloadTask {
        downloadTask(for: .success(request)) { link in
            DownloadPlan(.chosen(chooseDestination), options, link: link)
        }
    }

    func downloadTask(
        for request: Result<Request, SessionError>,
        _ makePlan: @escaping @Sendable (DownloadLink) throws(SessionError) -> DownloadPlan
    ) -> DownloadTask {
        let link = DownloadLink()
        return handle(try? request.get(), kind: .download, link: .download(link)) {
            [engine] driver throws(SessionError) in
            do throws(SessionError) {
                return try await engine.download(
                    request.get(), makePlan(link), sink: driver, hooks: driver.requestHooks())
            } catch {
                throw error.adding(metrics: driver.attemptMetrics)
            }
        }
    }
}
