public import Dispatch

/// The executor on which a session calls its callbacks.
///
/// It must run the functions serially, in order, each exactly once; the guarantees on the order of callbacks depend on
/// it.
public struct CallbackExecutor: Sendable {
    private let run: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Calls callbacks through a custom function, for example on a UI toolkit's main loop.
    public static func custom(
        _ run: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) -> CallbackExecutor {
        CallbackExecutor(run: run)
    }

    /// Calls callbacks on a serial queue.
    public static func queue(_ queue: DispatchQueue) -> CallbackExecutor {
        CallbackExecutor { work in queue.async(execute: work) }
    }

    /// Calls callbacks on a new, private serial queue.
    public static func serial() -> CallbackExecutor {
        .queue(DispatchQueue(label: "linnet.callbacks"))
    }

    /// Calls callbacks on the main queue. It only runs while the process runs the main actor or `dispatchMain()`.
    public static let main = CallbackExecutor.queue(.main)

    package func execute(_ work: @escaping @Sendable () -> Void) {
        run(work)
    }
}
