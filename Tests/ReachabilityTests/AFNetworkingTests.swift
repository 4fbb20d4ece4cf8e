import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite struct AFNetworkingTests {
        @Test(arguments: [
            (ReachabilityStatus.unknown, NetworkReachabilityStatus.unknown, "Unknown", -1),
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
        func aStatusHasAFNetworkingsNumber(
            status: ReachabilityStatus, expected: NetworkReachabilityStatus, text: String, number: Int
        ) {
            #expect(NetworkReachabilityStatus(status) == expected)
            #expect(expected.description == text)
            #expect(expected.rawValue == number)
        }

        @Test func theManagersPropertiesFollowTheStatus() throws {
            let monitor = try ReachabilityMonitor.manager(forAddress: "127.0.0.1")
            #expect(monitor.isReachable)
            #expect(monitor.isReachableViaWiFi)
            #expect(!monitor.isReachableViaWWAN)
            #expect(monitor.networkReachabilityStatus == .reachableViaWiFi)
            #expect(monitor.localizedNetworkReachabilityStatusString == "Reachable via WiFi")
        }

        @Test func theChangeBlockRemainsAcrossStopAndStart() async throws {
            let monitor = try ReachabilityMonitor.manager(forDomain: "127.0.0.1")
            monitor.stopMonitoring()
            let (calls, call) = AsyncStream.makeStream(of: NetworkReachabilityStatus.self)
            monitor.setReachabilityStatusChangeBlock { call.yield($0) }
            var iterator = calls.makeAsyncIterator()
            #expect(await iterator.next() == .reachableViaWiFi)
            for _ in 0..<3 {
                try monitor.startMonitoring()
                #expect(await iterator.next() == .reachableViaWiFi)
                monitor.stopMonitoring()
            }
            monitor.setReachabilityStatusChangeBlock(nil)
            try monitor.startMonitoring()
            monitor.stopMonitoring()
            call.finish()
            #expect(await iterator.next() == nil)
        }

        @Test func aNotificationNamesItsMonitorAndStatus() async throws {
            let notifications = ReachabilityNotifications.all
            let monitor = try ReachabilityMonitor(address: "127.0.0.1")
            let notification = await notifications.first { $0.monitorID == ObjectIdentifier(monitor) }
            #expect(notification?.status == monitor.status)
        }
    }
}
