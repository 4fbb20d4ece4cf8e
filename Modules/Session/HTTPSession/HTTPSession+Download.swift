public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization

extension HTTPSession {
    /// Sends GET, and writes the body of the response to a file, as ``Session/download(for:to:options:hooks:)`` does.
    ///
    /// ```swift
    /// try await client.download("images/linnet.iso", to: URL(filePath: "/srv/linnet.iso"))
    /// ```
    /// `options` are the request's, `downloadOptions` the file's.
    @discardableResult
    public func download(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), to destination: URL,
        downloadOptions: DownloadOptions = DownloadOptions(), hooks: TaskHooks? = nil
    ) async throws(SessionError) -> Response<URL> {
        let request = try request(.get, path, parameters: parameters, headers: headers, options: options)
        return try await session.download(for: request, to: destination, options: downloadOptions, hooks: hooks)
    }

    /// Makes a handle on a download to a file, as ``Session/downloadTask(for:to:options:)`` does. Nothing is sent until
    /// ``TransferTask/resume()``.
    public func downloadTask(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), to destination: URL,
        downloadOptions: DownloadOptions = DownloadOptions()
    ) -> DownloadTask {
        session.downloadTask(for: made(path, parameters, headers, options)) { link throws(SessionError) in
            try DownloadPlan(to: destination, downloadOptions, link: link)
        }
    }

    /// Makes a handle on a download into a folder, as ``Session/downloadTask(for:into:options:)`` does. Nothing is sent until
    /// ``TransferTask/resume()``.
    public func downloadTask(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), into folder: URL,
        downloadOptions: DownloadOptions = DownloadOptions()
    ) -> DownloadTask {
        session.downloadTask(for: made(path, parameters, headers, options)) { link throws(SessionError) in
            try DownloadPlan(into: folder, downloadOptions, link: link)
        }
    }

    /// Makes a handle on a download whose place is chosen when it is complete, as
    /// ``Session/downloadTask(for:options:chooseDestination:)`` does. Nothing is sent until ``TransferTask/resume()``.
    public func downloadTask(
        _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions(), downloadOptions: DownloadOptions = DownloadOptions(),
        chooseDestination: @escaping @Sendable (_ temporaryFile: URL, _ response: HTTPResponse) throws -> URL
    ) -> DownloadTask {
        session.downloadTask(for: made(path, parameters, headers, options)) { link in
            DownloadPlan(.chosen(chooseDestination), downloadOptions, link: link)
        }
    }

    /// Makes a handle on a response that is read as it comes, from ``TransferTask/response``. Nothing is sent until
    /// ``TransferTask/resume()``.
    public func streamTask(
        _ method: HTTPRequest.Method = .get, _ path: String, parameters: Parameters? = nil, headers: HTTPFields = [:],
        options: RequestOptions = RequestOptions()
    ) -> StreamTask {
        session.streamTask(for: made(path, parameters, headers, options, method: method))
    }

    private func made(
        _ path: String, _ parameters: Parameters?, _ headers: HTTPFields, _ options: RequestOptions,
        method: HTTPRequest.Method = .get
    ) -> Result<Request, SessionError> {
        Result { () throws(SessionError) in
            try request(method, path, parameters: parameters, headers: headers, options: options)
        }
    }
}
