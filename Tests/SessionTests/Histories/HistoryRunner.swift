import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetSession
import LinnetTesting
import Synchronization

/// Plays histories on a session, and records the reports of its tasks.
final class HistoryRunner: Sendable {
    /// The problems of a history, in words.
    struct Findings: Sendable {
        private(set) var all: [String] = []

        mutating func check(_ isRight: Bool, _ what: @autoclosure () -> String, in history: TaskHistory) {
            if !isRight { all.append("\(what()) in \(history)") }
        }
    }

    let client: HTTPSession
    let folder: ScratchFolder
    private let events: TaskEventLog

    init(client: HTTPSession, folder: ScratchFolder) {
        self.client = client
        self.folder = folder
        events = TaskEventLog(client)
    }

    /// Plays a history to its end.
    func play(_ history: TaskHistory) async throws -> Findings {
        switch (history.surface, history.kind) {
        case (.async, _): await playAsync(history)
        case (.callbacks, .data), (.callbacks, .upload): try await playCallbacks(history)
        case (_, .data):
            try await play(history, client.call(.get, history.path).task())
        case (_, .upload):
            try await play(
                history,
                client.call(.put, history.path).body(.data(Data(count: history.size))).task(DataResponseSerializer()))
        case (_, .download): try await playDownload(history)
        case (_, .stream): try await playStream(history)
        }
    }

    /// The session's events about all histories, which have ended.
    func findings(expecting count: Int) async throws -> [String] {
        try await events.findings(expecting: count)
    }

    // MARK: Surfaces

    private func playAsync(_ history: TaskHistory) async -> Findings {
        var findings = Findings()
        let file = folder["file\(history.seed)"]
        let task = Task { [client] in
            await Result { () async throws(SessionError) in
                switch history.kind {
                case .data:
                    _ = try await client.get(history.path).response()
                case .upload:
                    var request = try client.call(.put, history.path).request()
                    request.body = .data(Data(count: history.size))
                    _ = try await client.call(request).response()
                case .download:
                    try await client.get(history.path).download(to: file)
                case .stream:
                    let response = try await client.get(history.path).bytes()
                    _ = try await response.body.collect(upTo: .max)
                }
            }
        }
        for step in history.steps {
            switch step {
            case .cancel, .cancelForLater: task.cancel()
            default: await Task.yield()
            }
        }
        let result = await task.value
        check(result.error, history, &findings)
        if history.kind == .download { checkFile(file, of: result.error, history, &findings) }
        return findings
    }

    /// A handle with callbacks, which is started at once.
    private func playCallbacks(_ history: TaskHistory) async throws -> Findings {
        let calls = EventRecorder<String>()
        let call =
            history.kind == .data
            ? client.get(history.path)
            : client.put(history.path, ["text": String(repeating: "a", count: history.size)])
        let task = call.task()
        task.onCompletion { result in calls.record(result.error == nil ? "success" : "failure") }
        task.resume()
        var findings = try await play(history, task)
        let all = try await calls.wait(count: 1)
        findings.check(all == [task.error == nil ? "success" : "failure"], "its callbacks were \(all)", in: history)
        return findings
    }

    private func playDownload(_ history: TaskHistory) async throws -> Findings {
        let file = folder["file\(history.seed)"]
        let task = client.get(history.path).downloadTask(to: file)
        var findings = try await play(history, task) { steps in
            guard steps == .cancelForLater else { return task.cancel() }
            await task.cancelProducingResumeData()?.discard()
        }
        checkFile(file, of: task.error, history, &findings)
        return findings
    }

    private func playStream(_ history: TaskHistory) async throws -> Findings {
        let task = client.call(.get, history.path).streamTask()
        let reading = Task {
            await Result { () async throws(SessionError) in try await task.response.body.collect(upTo: .max) }
        }
        let findings = try await play(history, task)
        _ = await reading.value
        return findings
    }

    private func play<Value>(
        _ history: TaskHistory, _ task: TransferTask<Value>,
        cancel: (TaskHistory.Step) async -> Void = { _ in }
    ) async throws -> Findings {
        let log = TaskLog(task)
        for step in history.steps {
            switch step {
            case .resume: task.resume()
            case .suspend: task.suspend()
            case .cancel: task.cancel()
            case .cancelForLater: if task.kind == .download { await cancel(step) } else { task.cancel() }
            case .pass: await Task.yield()
            case .waitForBytes: if task.state == .running { await log.waitForBytesOrEnd(history.size / 2) }
            }
        }
        let error = await failure(of: task)
        var findings = Findings()
        check(error, history, &findings)
        for flaw in await log.flaws() { findings.check(false, flaw, in: history) }
        // A reader that waits for the response starts a stream.
        let isMadeRunning =
            history.kind == .stream || history.surface == .callbacks && [.data, .upload].contains(history.kind)
        findings.check(isMadeRunning || log.firstState == .suspended, "it was made running", in: history)
        findings.check(task.state == .completed, "it is \(task.state)", in: history)
        return findings
    }

    // MARK: Checks

    private static let codes: Set<SessionError.Code?> = [
        nil, .cancelled, .unacceptableStatus, .connectionLost, .invalidResponse,
    ]

    private func check(_ error: SessionError?, _ history: TaskHistory, _ findings: inout Findings) {
        findings.check(Self.codes.contains(error?.code), "it failed with \(error?.description ?? "")", in: history)
        let mustFail = [.stalls, .refuses].contains(history.answer) && history.kind != .stream
        findings.check(!mustFail || error != nil, "it went well", in: history)
        let mayFail = history.answer != .completes || history.steps.contains { $0 == .cancel || $0 == .cancelForLater }
        findings.check(mayFail || error == nil, "it failed with \(error?.description ?? "")", in: history)
    }

    private func checkFile(
        _ file: URL, of error: SessionError?, _ history: TaskHistory, _ findings: inout Findings
    ) {
        let size = (try? Data(contentsOf: file))?.count
        findings.check(size == (error == nil ? history.size : nil), "its file has \(size ?? -1) bytes", in: history)
        try? FileManager.default.removeItem(at: file)
    }
}
