public import FoundationEssentials
public import HTTPTypes
internal import LinnetSerialization

// Downloads to a file. A download that resumes from a part checks the part against its digest, and requests the rest of
// the same version (Range and If-Range; RFC 9110, sections 13.1.5 and 14.2). A 206 has the rest. A 200 has the whole
// entity, and the part is discarded. After a 416, or a 206 of another version, the whole entity is requested. An error,
// such as 404 or a lost connection, keeps the part, and `SessionError.resumeData` describes it.
extension HTTPCall {
    /// Sends the request, and writes the body of the response to a file.
    ///
    /// ```swift
    /// try await api.get("images/linnet.iso").download(to: URL(filePath: "/srv/linnet.iso"))
    /// ```
    /// When the function returns, the complete file is at the destination; an incomplete one never appears there. The
    /// bytes are written to a hidden file beside it. It is renamed at the end, and removed after any failure or
    /// cancellation. Memory use does not grow with the file. The response's value is the file's URL; its body is empty.
    ///
    /// - Parameters:
    ///   - destination: The file.
    ///   - resumeData: Describes the part to resume from: the value of ``SessionError/resumeData``,
    ///     ``TransferTask/cancelProducingResumeData()`` or ``DownloadOptions/resumeFile``. The call must lead to the
    ///     same bytes. The response's status tells whether it resumed (206) or started over (200). The default is none.
    ///   - options: The treatment of an existing file, the accepted responses, and more.
    /// - Throws: ``SessionError`` with
    ///   - ``SessionError/Code/unacceptableStatus`` or ``SessionError/Code/unacceptableContentType`` when the options'
    ///     validation refuses the response; up to 1 MiB of its body is in the error;
    ///   - ``SessionError/Code/fileFailed`` when the file cannot be written; ``SessionError/fileFailure`` has the
    ///     cause. Foreseeable failures, such as a missing folder, occur before anything is sent;
    ///   - ``SessionError/Code/connectionLost`` when fewer bytes arrived than the response declared, and
    ///     ``SessionError/Code/invalidResponse`` when there were more;
    ///   - ``SessionError/Code/invalidResumeData`` when the part does not match the resume data;
    ///   - ``SessionError/Code/invalidURL`` when the destination is not a file URL.
    @discardableResult
    public func download(
        to destination: URL, resuming resumeData: ResumeData? = nil, options: DownloadOptions = DownloadOptions()
    ) async throws(SessionError) -> SessionResponse<URL> {
        let plan = try DownloadPlan(to: destination, options, resume: resumeData)
        return try await session.download(request(), plan, extras)
    }

    /// Makes a handle on a download to a file; see ``download(to:resuming:options:)``.
    ///
    /// ``TransferTask/resumption`` tells whether it resumed or started over.
    public func downloadTask(
        to destination: URL, resuming resumeData: ResumeData? = nil, options: DownloadOptions = DownloadOptions()
    ) -> DownloadTask {
        downloadTask { link throws(SessionError) in
            try DownloadPlan(to: destination, options, resume: resumeData, link: link)
        }
    }

    /// Makes a handle on a download into a folder, under the name suggested by the response's Content-Disposition (RFC
    /// 6266), or else by its URL.
    ///
    /// The file is always in that folder and never hidden: only the last component of a suggested path is used, leading
    /// dots and control characters are removed, and an empty name is replaced by "download".
    public func downloadTask(
        into folder: URL, resuming resumeData: ResumeData? = nil, options: DownloadOptions = DownloadOptions()
    ) -> DownloadTask {
        downloadTask { link throws(SessionError) in
            try DownloadPlan(into: folder, options, resume: resumeData, link: link)
        }
    }

    /// Makes a handle on a download, and chooses its destination when it is complete and valid.
    ///
    /// `chooseDestination` receives the response's head and the file in the system's folder for temporary files, which
    /// it may read but not move; it returns the destination. It is called once, on a thread for files. Its error fails
    /// the task with ``SessionError/Code/fileFailed``, as the underlying error, and the file is removed.
    public func downloadTask(
        resuming resumeData: ResumeData? = nil, options: DownloadOptions = DownloadOptions(),
        chooseDestination: @escaping @Sendable (_ temporaryFile: URL, _ response: HTTPResponse) throws -> URL
    ) -> DownloadTask {
        downloadTask { link in DownloadPlan(.chosen(chooseDestination), options, resume: resumeData, link: link) }
    }

    private func downloadTask(
        _ plan: @escaping @Sendable (DownloadLink) throws(SessionError) -> DownloadPlan
    ) -> DownloadTask {
        prepared(session.downloadTask(for: made(), additions: extras?.value.additions, plan))
    }
}
