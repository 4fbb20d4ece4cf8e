import Dispatch
import LinnetTesting
import Logging
import Synchronization
import Testing

@testable import LinnetAFNetworking

/// Records the messages of a logger.
private struct RecordingHandler: LogHandler {
    let messages: EventRecorder<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { messages.record("\(event.level) \(event.message)") }
}

@Suite(.timeLimit(.minutes(5)))
struct MainQueueWatchTests {
    private let messages = EventRecorder<String>()

    private var logger: Logger { Logger(label: "test") { [messages] _ in RecordingHandler(messages: messages) } }

    @Test func aQueueThatNobodyProcessesIsReportedOnce() async throws {
        let queue = DispatchQueue(label: "linnet.test.stopped")
        queue.suspend()
        defer { queue.resume() }
        let watch = MainQueueWatch(queue, patience: .milliseconds(1))
        for _ in 0..<3 { watch.begin(logger) }
        let said = try await messages.wait(count: 1)
        #expect(said.count == 1 && said[0].hasPrefix("warning") && said[0].contains("completionQueue"))
        watch.begin(logger)
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(50)) {
                continuation.resume()
            }
        }
        #expect(messages.events.count == 1)
    }

    @Test func aQueueThatRunsIsNot() async throws {
        let queue = DispatchQueue(label: "linnet.test.running")
        let watch = MainQueueWatch(queue, patience: .milliseconds(200))
        watch.begin(logger)
        await withCheckedContinuation { continuation in
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .milliseconds(400)) {
                continuation.resume()
            }
        }
        #expect(messages.events.isEmpty)
    }
}
