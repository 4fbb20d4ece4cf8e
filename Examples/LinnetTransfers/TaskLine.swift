import ExampleSupport
import FoundationEssentials
import LinnetBackground
import LinnetSession

/// A task as one line of text or JSON.
struct TaskLine: Encodable {
    var id: String
    var kind: String
    var state: String
    var url: String
    var file: String
    var completed: Int64
    var total: Int64?
    var attempts: Int
    var nextAttempt: Date?
    var error: String?
    var message: String?
    var tag: String?
    var group: String?
    var bytesPerSecond: Int64?

    init(_ task: BackgroundTask) {
        id = "\(task.id)"
        kind = task.kind.rawValue
        state = task.state.rawValue
        url = task.url.absoluteString
        file = task.file.path
        completed = task.progress.completed
        total = task.progress.total
        attempts = task.attempts
        nextAttempt = task.nextAttempt
        error = task.error.map { "\($0.code)" }
        message = task.error?.message
        tag = task.tag
        group = task.group
        bytesPerSecond = task.bandwidthLimit
    }

    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return TerminalJSON.text(String(decoding: try encoder.encode(self), as: UTF8.self))
    }

    var text: String {
        let size = total.map { "\(ByteCount.text(completed)) of \(ByteCount.text($0))" } ?? ByteCount.text(completed)
        let parts = [id, state, size, file] + [message.map { "(\($0))" }].compactMap { $0 }
        return OneLine.text(parts.joined(separator: "  "))
    }
}
