import Dispatch
import Foundation
import LinnetTesting
import Testing

@testable import LinnetAFNetworking

@Suite(.timeLimit(.minutes(5)))
struct MainNotificationTests {
    private let name = NSNotification.Name("linnet.test.\(UUID().uuidString)")

    private func task(_ number: Int) -> URLSessionTask { URLSessionDataTask(number, nil, nil) { _ in } }

    @Test func thoseThatWaitArePostedTogetherAndInOrder() async throws {
        let queue = DispatchQueue(label: "linnet.test.notifications")
        let notifications = MainNotifications(on: queue)
        let seen = EventRecorder<Int>()
        let observer = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { notification in
            seen.record(notification.userInfo?["number"] as? Int ?? 0)
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        queue.suspend()
        for number in 1...3 { notifications.post(name, task(number)) { ["number": number] } }
        #expect(notifications.count == 3 && seen.events.isEmpty)
        queue.resume()
        #expect(try await seen.wait(count: 3) == [1, 2, 3])
        notifications.post(name, task(4)) { ["number": 4] }
        #expect(try await seen.wait(count: 4) == [1, 2, 3, 4])
    }

    @Test func aQueueThatDoesNotRunRetainsNoMoreThanItsLimit() {
        let queue = DispatchQueue(label: "linnet.test.stopped")
        queue.suspend()
        defer { queue.resume() }
        let notifications = MainNotifications(on: queue, limit: 10, patience: .zero)
        weak var first: URLSessionTask?
        do {
            let task = task(0)
            first = task
            notifications.post(name, task, nil)
        }
        #expect(first != nil)
        for number in 1...100 { notifications.post(name, task(number), nil) }
        #expect(notifications.count <= 10 && first == nil)
        let patient = MainNotifications(on: queue, limit: 10, patience: .seconds(3600))
        for number in 0..<100 { patient.post(name, task(number), nil) }
        #expect(patient.count == 100)
    }
}
