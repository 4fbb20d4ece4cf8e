import LinnetSession
import LinnetTesting
import Synchronization

/// The reports to one handle's observers.
final class TaskLog: Sendable {
    private enum Entry: Sendable {
        case state(TaskState)
        case progress(TaskProgress)
        case end
    }

    private let entries = EventRecorder<Entry>()

    init<Value>(_ task: TransferTask<Value>) {
        task.onStateChange { [entries] in entries.record(.state($0)) }
        task.onProgress { [entries] in entries.record(.progress($0)) }
        task.onCompletion { [entries] _ in entries.record(.end) }
    }

    /// The state that was heard first.
    var firstState: TaskState? {
        entries.events.lazy.compactMap { entry in if case .state(let state) = entry { state } else { nil } }.first
    }

    /// Returns when so many bytes have come, or the task has ended.
    func waitForBytesOrEnd(_ count: Int) async {
        _ = try? await entries.wait { entries in
            entries.contains { entry in
                switch entry {
                case .progress(let progress): progress.download.completed >= count
                case .end: true
                case .state: false
                }
            }
        }
    }

    /// The invalid reports of a task that has ended.
    func flaws() async -> [String] {
        guard
            let entries = try? await entries.wait(until: { $0.contains { if case .end = $0 { true } else { false } } })
        else { return ["it has no end"] }
        var flaws: [String] = []
        var state: TaskState?
        var progress = TaskProgress()
        var ends = 0
        for entry in entries {
            if ends > 0 { flaws.append("it goes on after its end") }
            switch entry {
            case .state(let next):
                if !Self.isLegal(state, next) { flaws.append("\(next) follows \(state.map { "\($0)" } ?? "nothing")") }
                state = next
            case .progress(let next):
                let goesBack =
                    next.download.completed < progress.download.completed
                    || next.upload.completed < progress.upload.completed
                if goesBack { flaws.append("its progress goes back") }
                progress = next
            case .end:
                ends += 1
            }
        }
        if ends != 1 { flaws.append("it has \(ends) ends") }
        if state != .completed { flaws.append("its last state is \(state.map { "\($0)" } ?? "none")") }
        return flaws
    }

    private static func isLegal(_ state: TaskState?, _ next: TaskState) -> Bool {
        switch (state, next) {
        // A late observer hears the current state of the task.
        case (nil, _), (.suspended, .running), (.running, .suspended): true
        case (.suspended, .cancelling), (.running, .cancelling): true
        case (.suspended, .completed), (.running, .completed), (.cancelling, .completed): true
        default: false
        }
    }
}

/// A session's events about all of its tasks.
final class TaskEventLog: Sendable {
    private let events = EventRecorder<(id: UInt64, kind: String)>()

    init(_ session: HTTPSession) {
        session.onEvent { [events] event in
            switch event.kind {
            case .created: events.record((event.taskID, "created"))
            case .resumed: events.record((event.taskID, "resumed"))
            case .suspended: events.record((event.taskID, "suspended"))
            case .decided: events.record((event.taskID, "decided"))
            case .completed: events.record((event.taskID, "completed"))
            }
        }
    }

    func findings(expecting count: Int) async throws -> [String] {
        let all = try await events.wait { events in events.count { $0.kind == "completed" } >= count }
        var histories: [UInt64: [String]] = [:]
        for (id, kind) in all { histories[id, default: []].append(kind) }
        var findings = histories.count == count ? [] : ["\(histories.count) tasks had events"]
        for (id, kinds) in histories where !Self.isLegal(kinds) { findings.append("task \(id): \(kinds)") }
        return findings
    }

    /// A request without a handle is not created; all else may be suspended and resumed by turns, and ends once.
    private static func isLegal(_ kinds: [String]) -> Bool {
        var rest = kinds[...]
        if rest.first == "created" { rest = rest.dropFirst() }
        guard rest.popLast() == "completed" else { return false }
        return rest.enumerated().allSatisfy { index, kind in kind == (index.isMultiple(of: 2) ? "resumed" : "suspended")
        }
    }
}
