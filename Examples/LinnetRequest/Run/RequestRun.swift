import ExampleSupport
import FoundationEssentials
import Linnet

/// Sends the request of a plan by a session, and prints the response.
struct RequestRun {
    let plan: RequestPlan
    let log: WireLog
    let progress: ProgressDisplay

    init(_ plan: RequestPlan) {
        self.plan = plan
        log = WireLog(plan)
        progress = ProgressDisplay()
    }

    func configure(_ configuration: inout HTTPSession.Configuration) {
        plan.connection.configure(&configuration)
        configuration.instruments.append(log)
        if plan.output.isVerbose {
            configuration.sessionHooks.didReceiveServerTrust = { [log] trust, decision in
                log.didEvaluate(trust, decision)
                return decision
            }
        }
        configuration.hooks.didSendBody = { [progress] _, _, sent in progress.update(sent.completed, of: sent.total) }
        configuration.hooks.didWriteDownload = { [progress] _, _, part in
            progress.update(part.completed, of: part.total)
        }
        configuration.hooks.willRedirect = { [log] _, redirect, _ in
            log.didReceive(redirect.head, version: nil)
            return nil
        }
    }

    /// Sends the request, and returns the response's status.
    func send(by session: HTTPSession) async throws -> HTTPResponse.Status {
        defer { progress.end() }
        let call = session.call(plan.request)
        switch plan.output.way {
        case .events: return try await EventStream(request: self).show(call)
        case .webSocket: return try await SocketDialog().run(call)
        case .backgroundDownload: return try await BackgroundHandover(plan: plan).add()
        case .body, .resumableDownload:
            guard let file = plan.output.file, plan.output.parts.contains(.responseBody) else {
                return try await show(call)
            }
            return try await download(call, to: file)
        }
    }

    private func download(_ call: HTTPCall, to file: URL) async throws -> HTTPResponse.Status {
        let resumeFile = URL(filePath: file.path + ".resume")
        let isResumable = plan.output.way == .resumableDownload
        let response = try await call.download(
            to: file, resuming: isResumable ? try? ResumeData(contentsOf: resumeFile) : nil,
            options: DownloadOptions {
                $0.existingFile = .replace
                // The page of an error is no part of the file.
                if isResumable { $0.resumeFile = resumeFile } else { $0.validation = .none }
            })
        progress.end()
        try printHead(response)
        try printTimings(response)
        return response.status
    }

    private func show(_ call: HTTPCall) async throws -> HTTPResponse.Status {
        let response = try await call.bytes(validation: .none)
        try printHead(response)
        let isPrinted = plan.output.parts.contains(.responseBody)
        if isPrinted && StandardStream.output.isTerminal { progress.end() }
        var printer = BodyPrinter(contentType: response.head.headerFields[.contentType])
        let length = response.head.headerFields[.contentLength].flatMap { Int64($0) }
        var received: Int64 = 0
        for try await chunk in response.body where isPrinted {
            received += Int64(chunk.count)
            try printer.write(chunk)
            progress.update(received, of: length)
        }
        if isPrinted { try printer.end() }
        progress.end()
        try printTimings(response)
        return response.status
    }

    func printHead<Value>(_ response: SessionResponse<Value>) throws {
        let version = response.metrics.last?.httpVersion
        log.didConnect(response.metrics.last)
        log.didReceive(response.head, version: version)
        guard plan.output.parts.contains(.responseHead) else { return }
        for head in response.redirects.map(\.head) + [response.head] {
            try StandardStream.output.write(HeadText.text(HeadText.lines(head, version: version)))
        }
    }

    private func printTimings<Value>(_ response: SessionResponse<Value>) throws {
        guard plan.output.showsTimings else { return }
        try StandardStream.error.write(TimingsTable(response.metrics, status: response.status).text)
    }
}

extension ConnectionPlan {
    /// The settings of connections. A session that makes them itself has the same.
    fileprivate func configure(_ configuration: inout HTTPSession.Configuration) {
        configuration.securityPolicy = policy
        configuration.clientIdentities = identities
        configuration.timeouts.request = timeout
        configuration.httpVersions = httpVersions
        configuration.proxies = proxies
        configuration.resolution = resolution
        configuration.redirectPolicy = redirects
        configuration.retryPolicy = retries
    }
}
