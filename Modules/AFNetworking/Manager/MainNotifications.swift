internal import Dispatch
internal import Foundation  // NotificationCenter
internal import LinnetTransport
internal import Synchronization

/// Posts notifications of tasks on the main queue, in order; those that wait are posted together.
///
/// In a program without a main loop they would wait for ever, each with its task: when many have waited for long, they
/// are dropped.
final class MainNotifications: Sendable {
    /// Makes what a notification says, on the queue where it is posted.
    typealias Info = @Sendable () -> [AnyHashable: Any]

    private struct Notice: Sendable {
        let name: NSNotification.Name
        let task: URLSessionTask
        let info: Info?
    }

    private struct State {
        var waiting: [Notice] = []
        /// When the patience with the queue ends; nil if it was not asked to run.
        var deadline: Tick?
    }

    /// The notifications of the process.
    static let shared = MainNotifications(on: .main)

    private let queue: DispatchQueue
    private let limit: Int
    private let patience: Duration
    private let state = Mutex(State())

    /// - Parameters:
    ///   - queue: The queue on which they are posted.
    ///   - limit: The number of notifications that always wait.
    ///   - patience: The time for which more of them wait.
    init(on queue: DispatchQueue, limit: Int = 10_000, patience: Duration = .seconds(1)) {
        (self.queue, self.limit, self.patience) = (queue, limit, patience)
    }

    /// The number of notifications that wait.
    var count: Int { state.withLock { $0.waiting.count } }

    func post(_ name: NSNotification.Name, _ task: URLSessionTask, _ info: Info?) {
        let (isFirst, dropped) = state.withLock { state in
            var dropped: [Notice] = []
            if state.waiting.count >= limit, let deadline = state.deadline, deadline < .now {
                swap(&dropped, &state.waiting)
            }
            state.waiting.append(Notice(name: name, task: task, info: info))
            let isFirst = state.deadline == nil
            if isFirst { state.deadline = .after(patience) }
            return (isFirst, dropped)
        }
        if isFirst { queue.async { self.postAll() } }
        // Released here, since a task may end its manager with it.
        withExtendedLifetime(dropped) {}
    }

    private func postAll() {
        let notices = state.withLock { state in
            defer { (state.waiting, state.deadline) = ([], nil) }
            return state.waiting
        }
        for notice in notices {
            NotificationCenter.default.post(name: notice.name, object: notice.task, userInfo: notice.info?())
        }
    }
}
