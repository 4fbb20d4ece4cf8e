public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization

// Downloads that resume from a part. Common to all:
//
// The part is checked against its digest, and the rest of the same version is requested (Range and If-Range; RFC 9110, sections
// 13.1.5 and 14.2). A 206 has the rest. A 200 has the whole, and the part is discarded. After a 416, or a 206 of another
// version, the whole is requested. An error, such as 404 or a lost connection, keeps the part, and `SessionError.resumeData`
// describes it.
extension Session {
    /// Makes a handle on a download that resumes from a part. Nothing is sent until ``TransferTask/resume()``.
    ///
    /// `resumeData` is from ``TransferTask/cancelProducingResumeData()``, ``SessionError/resumeData`` or
    /// ``DownloadOptions/resumeFile``. `request` replaces a plain GET of the URL in it, for example to add credentials or a
    /// newly signed URL. It must lead to the same bytes.
    ///
    /// ``TransferTask/resumption`` tells whether it resumed or started over. It fails with
    /// ``SessionError/Code/invalidResumeData`` when the part does not match the resume data, otherwise as
    /// ``download(for:to:options:hooks:)``.
    public func downloadTask(
        resuming resumeData: ResumeData, with request: Request? = nil, to destination: URL,
        options: DownloadOptions = DownloadOptions()
    ) -> DownloadTask {
        downloadTask(for: .success(request ?? Request(url: resumeData.url))) { link throws(SessionError) in
            try DownloadPlan(to: destination, options, resume: resumeData, link: link)
        }
    }

    /// Makes a handle on a download into a folder that resumes from a part.
    public func downloadTask(
        resuming resumeData: ResumeData, with request: Request? = nil, into folder: URL,
        options: DownloadOptions = DownloadOptions()
    ) -> DownloadTask {
        downloadTask(for: .success(request ?? Request(url: resumeData.url))) { link throws(SessionError) in
            try DownloadPlan(into: folder, options, resume: resumeData, link: link)
        }
    }

    /// Makes a handle on a download that resumes from a part, and whose destination is chosen when it is complete.
    public func downloadTask(
        resuming resumeData: ResumeData, with request: Request? = nil, options: DownloadOptions = DownloadOptions(),
        chooseDestination: @escaping @Sendable (_ temporaryFile: URL, _ response: HTTPResponse) throws -> URL
    ) -> DownloadTask {
        downloadTask(for: .success(request ?? Request(url: resumeData.url))) { link in
            DownloadPlan(.chosen(chooseDestination), options, resume: resumeData, link: link)
        }
    }

    /// Resumes a download from a part, in the caller's task. The response's status tells whether it resumed (206) or started
    /// over (200).
    public func download(
        resuming resumeData: ResumeData, with request: Request? = nil, to destination: URL,
        options: DownloadOptions = DownloadOptions()
    ) async throws(SessionError) -> Response<URL> {
        let plan = try DownloadPlan(to: destination, options, resume: resumeData)
        return try await download(request ?? Request(url: resumeData.url), plan)
    }
}

extension TransferTask where Value == URL {
    /// Whether the download resumed from its part or started over; nil before that is known, and when there was no part.
    public var resumption: DownloadResumption? { link.download?.resumption }

    /// Ends the task as ``cancel()`` does, but keeps the part, and returns the data to resume the download.
    ///
    /// Returns nil, and keeps no part, when the download cannot resume: nothing was received, the server sent no strong
    /// validator (RFC 9110, section 8.8) or does not support ranges, the request is not a GET, or the task had ended.
    public func cancelProducingResumeData() async -> ResumeData? {
        link.download?.setEnding(.keep)
        driver.cancel(.cancelled(driver.request?.url))
        return await driver.ending().error?.resumeData
    }

    /// Ends the task as ``cancelProducingResumeData()`` does, and calls a function with the resume data, once, on the
    /// session's callback executor.
    public func cancel(producingResumeData receive: @escaping @Sendable (ResumeData?) -> Void) {
        onCompletion { receive($0.error?.resumeData) }
        link.download?.setEnding(.keep)
        driver.cancel(.cancelled(driver.request?.url))
    }
}
