public import FoundationEssentials
public import HTTPTypes
public import LinnetSerialization

// Downloads that go on from a part. What is the same for all:
//
// The part is checked against its digest, and the server is asked for the rest of the very version that was begun (Range
// and If-Range; RFC 9110, sections 13.1.5 and 14.2). What it answers decides: 206 is the rest; 200 is all of it, and the
// part is thrown away; 416, or a 206 of another version, makes it ask once more, for all of it. An error, such as 404 or a
// connection that is lost again, leaves the part, and `SessionError.resumeData` says how far it has come.
extension Session {
    /// Makes a handle on a download that goes on from a part. Nothing is sent until ``TransferTask/resume()``.
    ///
    /// `resumeData` is from ``TransferTask/cancelProducingResumeData()``, ``SessionError/resumeData`` or
    /// ``DownloadOptions/resumeFile``. `request` is what to send when it is not a plain GET of the URL in it: with
    /// credentials, or with a new URL, such as a link that was signed again. It must lead to the same bytes.
    ///
    /// ``TransferTask/resumption`` tells whether it went on or started over. It fails with
    /// ``SessionError/Code/invalidResumeData`` when the part is not what the resume data says, else as
    /// ``download(for:to:options:hooks:)`` does.
    public func downloadTask(
        resuming resumeData: ResumeData, with request: Request? = nil, to destination: URL,
        options: DownloadOptions = DownloadOptions()
    ) -> DownloadTask {
        downloadTask(for: .success(request ?? Request(url: resumeData.url))) { link throws(SessionError) in
            try DownloadPlan(to: destination, options, resume: resumeData, link: link)
        }
    }

    /// Makes a handle on a download into a folder that goes on from a part.
    public func downloadTask(
        resuming resumeData: ResumeData, with request: Request? = nil, into folder: URL,
        options: DownloadOptions = DownloadOptions()
    ) -> DownloadTask {
        downloadTask(for: .success(request ?? Request(url: resumeData.url))) { link throws(SessionError) in
            try DownloadPlan(into: folder, options, resume: resumeData, link: link)
        }
    }

    /// Makes a handle on a download that goes on from a part, and whose place is chosen when it is complete.
    public func downloadTask(
        resuming resumeData: ResumeData, with request: Request? = nil, options: DownloadOptions = DownloadOptions(),
        chooseDestination: @escaping @Sendable (_ temporaryFile: URL, _ response: HTTPResponse) throws -> URL
    ) -> DownloadTask {
        downloadTask(for: .success(request ?? Request(url: resumeData.url))) { link in
            DownloadPlan(.chosen(chooseDestination), options, resume: resumeData, link: link)
        }
    }

    /// Goes on with a download from a part, in the caller's task. The response's status tells whether it went on (206) or
    /// started over (200).
    public func download(
        resuming resumeData: ResumeData, with request: Request? = nil, to destination: URL,
        options: DownloadOptions = DownloadOptions()
    ) async throws(SessionError) -> Response<URL> {
        let plan = try DownloadPlan(to: destination, options, resume: resumeData)
        return try await download(request ?? Request(url: resumeData.url), plan)
    }
}

extension TransferTask where Value == URL {
    /// What became of the part that the download was to go on from; nil before that is known, and when there was none.
    public var resumption: DownloadResumption? { link.download?.resumption }

    /// Ends the task as ``cancel()`` does, but leaves what is there of the file, and returns what is needed to go on with it.
    ///
    /// Nil when it cannot go on: nothing has come, the server gave no strong validator (RFC 9110, section 8.8) or knows no
    /// ranges, the request is no GET, or the task has ended before. Then nothing is left of it.
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
