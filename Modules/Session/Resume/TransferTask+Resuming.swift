public import FoundationEssentials

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
