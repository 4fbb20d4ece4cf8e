internal import Dispatch
internal import Logging
internal import Synchronization

/// Warns once, in the log, if the main queue does not run what a manager has put into it: a program without a main loop
/// never processes that queue, so that no completion handler is called.
final class MainQueueWatch: Sendable {
    /// The watch of the process.
    static let shared = MainQueueWatch(.main, patience: .seconds(10))

    private let queue: DispatchQueue
    private let patience: DispatchTimeInterval
    private let hasBegun = Atomic(false)
    private let hasRun = Atomic(false)

    /// Creates a watch over a queue, which has so much time.
    init(_ queue: DispatchQueue, patience: DispatchTimeInterval) {
        (self.queue, self.patience) = (queue, patience)
    }

    /// Watches the queue from the first call on, once. The warning goes to a logger, or to one of the process.
    func begin(_ logger: Logger?) {
        guard !hasBegun.load(ordering: .relaxed), !hasBegun.exchange(true, ordering: .relaxed) else { return }
        queue.async { self.hasRun.store(true, ordering: .relaxed) }
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + patience) {
            if !self.hasRun.load(ordering: .relaxed) { Self.warn(logger ?? Logger(label: "LinnetAFNetworking")) }
        }
    }

    private static func warn(_ logger: Logger) {
        logger.warning(
            """
            The main queue has not run for some seconds, and completion handlers wait in it. A program without a main \
            loop sets completionQueue to a queue of its own, or calls dispatchMain().
            """)
    }
}
