internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

extension Engine {
    /// Sends a request and writes the body of its response to a file, or resumes a download from its part.
    func download(
        _ request: SessionRequest, _ plan: DownloadPlan, in call: CallContext
    ) async throws(SessionError) -> SessionResponse<URL> {
        do {
            try await onFileThreads { () async throws(SessionError) in try plan.check() }
        } catch {
            throw error.adding(url: request.url)
        }
        do {
            var call = call
            if let hooks = call.hooks { call.observer = hooks.observing(call.observer, isDownload: true) }
            // The part consists of bytes as they were sent, and a part of coded bytes cannot be decoded. So the request
            // asks for uncoded ones.
            let request = plan.mayBeResumed ? coding?.withoutCodings(request) ?? request : request
            let context = call
            let saved = try await whole(request, in: call, nil, keepsLateValue: true) {
                course async throws(SessionError) in
                if let resume = plan.resume {
                    try await self.download(request, plan, goingOnFrom: resume, in: context, course)
                } else {
                    try await self.download(request, plan, because: nil, in: context, course)
                }
            }
            call.hooks?.didFinishDownload(saved.value)
            return saved
        } catch {
            throw plan.accountingForThePart(in: error)
        }
    }

    /// Writes the body of a received response to a file.
    func save(
        _ response: StreamedResponse, answering request: SessionRequest, _ plan: DownloadPlan,
        _ call: CallContext
    ) async throws(SessionError) -> SessionResponse<URL> {
        try await onFileThreads { () async throws(SessionError) in try plan.check() }
        return try await finish(DownloadSaver(response, to: request, plan: plan, content: .whole(nil), in: call))
    }

    private func download(
        _ request: SessionRequest, _ plan: DownloadPlan, goingOnFrom resume: ResumeData, in call: CallContext,
        _ course: Course
    ) async throws(SessionError) -> SessionResponse<URL> {
        let rest = request.asking(forTheRestOf: resume)
        let response = try await run(rest, delivery: .streamed, in: call, course: course)
        do {
            switch try RangeAnswer(response, to: resume) {
            case .rest(let total):
                return try await finish(
                    DownloadSaver(response, to: rest, plan: plan, content: .rest(of: resume, total), in: call))
            case .whole(let reason):
                return try await finish(
                    DownloadSaver(response, to: rest, plan: plan, content: .whole(reason), in: call))
            case .askAgain(let reason):
                return try await download(request, plan, because: reason, in: call, course)
            }
        } catch {
            throw error.adding(response)
        }
    }

    /// Downloads the whole entity; with the reason, if the download should have resumed.
    private func download(
        _ request: SessionRequest, _ plan: DownloadPlan, because reason: DownloadResumption.Reason?,
        in call: CallContext, _ course: Course
    ) async throws(SessionError) -> SessionResponse<URL> {
        let response = try await run(request, delivery: .streamed, in: call, course: course)
        do {
            return try await finish(DownloadSaver(response, to: request, plan: plan, content: .whole(reason), in: call))
        } catch {
            throw error.adding(response)
        }
    }

    private func finish(_ saver: DownloadSaver) async throws(SessionError) -> SessionResponse<URL> {
        let path = try await onFileThreads { () async throws(SessionError) in try await saver.save() }
        return saver.response.with(URL(filePath: path))
    }
}

/// Runs an operation that can block on file I/O on the executor for files.
@concurrent
private func onFileThreads<Value: Sendable>(
    _ body: @Sendable () async throws(SessionError) -> Value
) async throws(SessionError) -> Value {
    try await withTaskExecutorPreference(FileExecutor.shared, operation: body)
}

extension DownloadPlan {
    /// Returns the error of a failed download with its original resume data, if its part is still usable. Removes the
    /// part instead if the download was cancelled without keeping it.
    fileprivate func accountingForThePart(in error: SessionError) -> SessionError {
        guard let resume, error.resumeData == nil, error.code != .invalidResumeData else { return error }
        guard keepsPart else {
            resume.discard()
            removeResumeFile()
            return error
        }
        let path = resume.partialFile.path(percentEncoded: false)
        guard (try? SystemFile.checkPart(path, size: resume.receivedBytes)) != nil else { return error }
        var error = error
        error.resumeData = resume
        return error
    }
}

extension SessionError {
    fileprivate func adding(url: URL) -> SessionError {
        var error = self
        error.url = error.url ?? url.withoutUserInfo
        return error
    }
}
