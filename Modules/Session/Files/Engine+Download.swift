internal import FoundationEssentials
internal import HTTPTypes
internal import LinnetMessages
internal import LinnetSerialization
internal import LinnetTransport
internal import NIOCore

extension Engine {
    /// Sends a request and writes the body of its response to a file, or resumes a download from its part.
    func download(_ flight: Flight, _ plan: DownloadPlan) async throws(SessionError) -> SessionResponse<URL> {
        do {
            try await onFileThreads { () async throws(SessionError) in try plan.check() }
        } catch {
            throw error.adding(url: flight.request.url)
        }
        do {
            var flight = flight
            if let hooks = flight.hooks { flight.observer = hooks.observing(flight.observer, isDownload: true) }
            // The part consists of bytes as they were sent, and a part of coded bytes cannot be decoded. So the request
            // asks for uncoded ones.
            if plan.mayBeResumed, let coding = chain.coding { flight.change(to: coding.withoutCodings(flight.request)) }
            let saved = try await whole(flight, keepsLateValue: true) { flight async throws(SessionError) in
                try await self.download(flight, attempting: plan)
            }
            flight.hooks?.didFinishDownload(saved.value)
            return saved
        } catch {
            throw plan.accountingForThePart(in: error)
        }
    }

    /// Writes the body of a received response to a file.
    func save(
        _ response: StreamedResponse, _ plan: DownloadPlan, _ flight: Flight
    ) async throws(SessionError) -> SessionResponse<URL> {
        try await onFileThreads { () async throws(SessionError) in try plan.check() }
        return try await finish(DownloadSaver(response, to: flight, plan: plan, content: .whole(nil)))
    }

    /// Downloads in as many attempts as are needed and allowed. Each one continues the part that the last one has kept.
    private func download(
        _ flight: Flight, attempting plan: DownloadPlan
    ) async throws(SessionError) -> SessionResponse<URL> {
        var plan = plan
        do throws(SessionError) {
            return try await retrying(flight, readsLate: true) { flight async throws(SessionError) in
                do throws(SessionError) {
                    guard let resume = plan.resume else { return try await download(flight, plan, because: nil) }
                    return try await download(flight, plan, goingOnFrom: resume)
                } catch {
                    let failure = plan.accountingForThePart(in: error)
                    plan.resume = failure.resumeData
                    throw failure
                }
            }
        } catch {
            // The download can also end between two attempts, whose part nothing else accounts for.
            throw plan.accountingForThePart(in: error)
        }
    }

    private func download(
        _ flight: Flight, _ plan: DownloadPlan, goingOnFrom resume: ResumeData
    ) async throws(SessionError) -> SessionResponse<URL> {
        let rest = flight.with(flight.request.asking(forTheRestOf: resume))
        let response = try await run(rest)
        do {
            switch try RangeAnswer(response, to: resume) {
            case .rest(let total):
                return try await finish(
                    DownloadSaver(response, to: rest, plan: plan, content: .rest(of: resume, total)))
            case .whole(let reason):
                return try await finish(DownloadSaver(response, to: rest, plan: plan, content: .whole(reason)))
            case .askAgain(let reason):
                return try await download(flight, plan, because: reason)
            }
        } catch {
            throw error.adding(response)
        }
    }

    /// Downloads the whole entity; with the reason, if the download should have resumed.
    private func download(
        _ flight: Flight, _ plan: DownloadPlan, because reason: DownloadOptions.Resumption.Reason?
    ) async throws(SessionError) -> SessionResponse<URL> {
        let response = try await run(flight)
        do {
            return try await finish(DownloadSaver(response, to: flight, plan: plan, content: .whole(reason)))
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
