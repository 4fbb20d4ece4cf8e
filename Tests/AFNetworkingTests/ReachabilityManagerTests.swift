import Dispatch
import Foundation
import LinnetAFNetworking
import LinnetTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ReachabilityManagerTests {
    @Test(arguments: [
        (ReachabilityStatus.unknown, AFNetworkReachabilityStatus.unknown, "Unknown", -1),
        (.notReachable, .notReachable, "Not Reachable", 0),
        (
            .reachable(via: .cellular, interfaceName: "wwan0", supportsIPv4: true, supportsIPv6: true),
            .reachableViaWWAN, "Reachable via WWAN", 1
        ),
        (
            .reachable(via: .wifi, interfaceName: "wlan0", supportsIPv4: true, supportsIPv6: true),
            .reachableViaWiFi, "Reachable via WiFi", 2
        ),
        (
            .reachable(via: .ethernet, interfaceName: "eth0", supportsIPv4: true, supportsIPv6: true),
            .reachableViaWiFi, "Reachable via WiFi", 2
        ),
    ])
    func aStatusHasAFNetworkingsNumberAndText(
        status: ReachabilityStatus, expected: AFNetworkReachabilityStatus, text: String, number: Int
    ) {
        #expect(AFNetworkReachabilityStatus(status) == expected)
        #expect(AFStringFromNetworkReachabilityStatus(expected) == text)
        #expect(expected.rawValue == number)
    }

    @Test(arguments: ["127.0.0.1", "localhost", "nonsense"])
    func theStatusIsUnknownBeforeItIsMonitored(name: String) {
        let manager = name == "127.0.0.1" ? AFNetworkReachabilityManager(forAddress: name) : .init(forDomain: name)
        #expect(manager.networkReachabilityStatus == .unknown)
        #expect(!manager.isReachable && !manager.isReachableViaWWAN && !manager.isReachableViaWiFi)
        #expect(manager.localizedNetworkReachabilityStatusString() == "Unknown")
    }

    @Test func anAddressThatIsNoneIsNeverReachable() {
        let manager = AFNetworkReachabilityManager(forAddress: "nonsense")
        manager.startMonitoring()
        #expect(manager.networkReachabilityStatus == .unknown)
    }

    @Test func theBlockComesOnTheMainQueueAndRemainsAcrossStopAndStart() async {
        let manager = AFNetworkReachabilityManager(forAddress: "127.0.0.1")
        let (calls, call) = AsyncStream.makeStream(of: Bool.self)
        let key = DispatchSpecificKey<Int>()
        DispatchQueue.main.setSpecific(key: key, value: 3)
        defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
        manager.setReachabilityStatusChange { status in
            call.yield(status == .reachableViaWiFi && DispatchQueue.getSpecific(key: key) == 3)
        }
        var iterator = calls.makeAsyncIterator()
        for _ in 0..<3 {
            manager.startMonitoring()
            #expect(await iterator.next() == true)
            manager.stopMonitoring()
        }
        #expect(manager.isReachable && manager.isReachableViaWiFi, "The last status remains.")
        manager.setReachabilityStatusChange(nil)
        manager.startMonitoring()
        manager.stopMonitoring()
        await MainActor.run {}
        call.finish()
        #expect(await iterator.next() == nil)
    }

    @Test func aNotificationHasTheManagerAndTheStatus() async {
        let manager = AFNetworkReachabilityManager(forAddress: "127.0.0.1")
        let notifications = EventRecorder<Int?>()
        let token = NotificationCenter.default.addObserver(
            forName: .AFNetworkingReachabilityDidChange, object: manager, queue: nil
        ) { notification in
            let item = notification.userInfo?[AFNetworkingReachabilityNotificationStatusItem] as? Int
            notifications.record(notification.object as? AFNetworkReachabilityManager === manager ? item : nil)
        }
        defer { NotificationCenter.default.removeObserver(token) }
        manager.startMonitoring()
        _ = try? await notifications.wait(count: 1)
        #expect(notifications.events.first == 2)
        manager.stopMonitoring()
    }

    // On the main actor, so that no status is being delivered, which would retain the manager meanwhile.
    @Test @MainActor func aManagerThatIsDroppedEndsItsMonitor() throws {
        let monitor = try ReachabilityMonitor(address: "127.0.0.1")
        var manager: AFNetworkReachabilityManager? = AFNetworkReachabilityManager(reachability: monitor)
        manager?.startMonitoring()
        manager?.setReachabilityStatusChange { [manager] _ in _ = manager?.isReachable }
        weak let released = manager
        manager?.setReachabilityStatusChange(nil)
        manager = nil
        #expect(released == nil)
        #expect(throws: Never.self) { try monitor.start() }
        monitor.stop()
    }

    @Test func allShareOneForTheNetwork() {
        #expect(AFNetworkReachabilityManager.shared() === AFNetworkReachabilityManager.shared())
        #expect(AFNetworkReachabilityManager() !== AFNetworkReachabilityManager.shared())
    }
}
