import LinnetTesting
import Logging

/// Records what is logged.
struct RecordingLogHandler: LogHandler {
    struct Line: Sendable {
        var level: Logger.Level
        var message: String
        var values: Logger.Metadata

        /// The metadata as text.
        var metadata: [String: String] { values.mapValues { "\($0)" } }

        /// A value that is not text; nil for others.
        func value<Value>(_ key: String, as type: Value.Type) -> Value? {
            if case .stringConvertible(let value) = values[key] { value as? Value } else { nil }
        }
    }

    let lines: EventRecorder<Line>
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.record(Line(level: event.level, message: "\(event.message)", values: event.metadata ?? [:]))
    }

    static func logger(_ lines: EventRecorder<Line>, _ level: Logger.Level) -> Logger {
        Logger(label: "test") { _ in RecordingLogHandler(lines: lines, logLevel: level) }
    }
}
