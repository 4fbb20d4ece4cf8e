internal import Dispatch
internal import Foundation  // NotificationCenter
internal import Synchronization

/// Posts notifications of tasks on the main queue, in order; those that wait are posted together.
enum MainNotifications {
    private struct Notice: Sendable {
        let name: NSNotification.Name
        let task: URLSessionTask
        let info: UncheckedBox<[AnyHashable: Any]>?
    }

    private static let waiting = Mutex<[Notice]>([])

    static func post(
        _ name: NSNotification.Name, _ task: URLSessionTask, _ info: UncheckedBox<[AnyHashable: Any]>?
    ) {
        let isFirst = waiting.withLock { waiting in
            waiting.append(Notice(name: name, task: task, info: info))
            return waiting.count == 1
        }
        if isFirst { DispatchQueue.main.async { postAll() } }
    }

    private static func postAll() {
        let notices = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for notice in notices {
            NotificationCenter.default.post(name: notice.name, object: notice.task, userInfo: notice.info?.value)
        }
    }
}
