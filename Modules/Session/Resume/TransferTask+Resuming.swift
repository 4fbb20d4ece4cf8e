public import FoundationEssentials

extension TransferTask where Value == URL {
    /// Whether the download resumed from its part or started over; nil while this is unknown, and without a part.
    public var resumption: DownloadOptions.Resumption? { link.download?.resumption }

    /// Slows the download down: the function is called after bytes were written, and no more are read until it returns.
    /// It must return when its task is cancelled.
    package func setPace(_ pace: @escaping @Sendable (_ bytes: Int) async -> Void) { link.download?.pace = pace }

    /// Cancels the task like ``cancel()``, but keeps the part, and returns the data to resume the download. The part is
    /// then read and hashed, which takes time for gigabytes, unless ``DownloadOptions/keepsPart`` or
    /// ``DownloadOptions/resumeFile`` is set.
    ///
    /// - Returns: The resume data. Nil, without keeping the part, if the download cannot be resumed: no bytes were
    /// received, the server sent no strong validator (RFC 9110, section 8.8) or does not support ranges, the request is
    /// not a GET, or the task had ended.
    public func cancelProducingResumeData() async -> ResumeData? {
        link.download?.setEnding(.keep)
        driver.cancel(.cancelled(driver.request?.url))
        return await driver.ending().error?.resumeData
    }

    /// Cancels the task like ``cancelProducingResumeData()``, and calls a function with the resume data, exactly once,
    /// on the session's callback executor.
    public func cancel(producingResumeData receive: @escaping @Sendable (ResumeData?) -> Void) {
        onCompletion { receive($0.error?.resumeData) }
        link.download?.setEnding(.keep)
        driver.cancel(.cancelled(driver.request?.url))
    }
}
