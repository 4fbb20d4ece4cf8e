public import Dispatch

/// Where a session calls its callbacks.
///
/// It must run what it is given one after another, in order, each exactly once; the promises on the order of
/// callbacks rest on that.
public struct CallbackExecutor: Sendable {
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Calls callbacks by a function of your own, such as one that hands them to a UI toolkit's main loop.
    public static func custom(
        _ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) -> CallbackExecutor {
        CallbackExecutor(run: run)
    }

    /// Calls callbacks on a serial queue.
    public static func queue(_ queue: DispatchQueue) -> CallbackExecutor {
        CallbackExecutor { work in queue.async(execute: work) }
    }

    /// Calls callbacks on a new serial queue that nobody else uses.
    public static func serial() -> CallbackExecutor {
        .queue(DispatchQueue(label: "linnet.callbacks"))
    }

    /// Calls callbacks on the main queue. A process without a main actor at work or `dispatchMain()` never drains it.
    public static let main = CallbackExecutor.queue(.main)

    func execute(_ work: @escaping @Sendable () -> Void) {
        run(work)
    }
}
