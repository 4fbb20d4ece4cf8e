import Dispatch
import Synchronization
import Testing

@testable import LinnetReachability

extension LiveTests {
    /// Monitors that stop right after they were observed.
    @Suite struct SilenceAfterStopTests {
        private let cellular = ReachabilityStatus.reachable(
            via: .cellular, interfaceName: "wwan0", supportsIPv4: true, supportsIPv6: true)

        /// Stops a monitor and gives it another status, which is delivered to subscriptions that begin after the stop.
        private func stop(_ monitor: ReachabilityMonitor) {
            monitor.stop()
            #expect(monitor.hub.begin(cellular, run: 2) == true)
            monitor.hub.finish(run: 2)
        }

        @Test func anObserverThatIsAddedBeforeTheStopHasNoLaterStatus() async throws {
            let other = try ReachabilityMonitor()
            defer { other.stop() }
            for _ in 0..<300 {
                let monitor = try ReachabilityMonitor(address: "127.0.0.1")
                let (calls, call) = AsyncStream.makeStream(of: ReachabilityStatus.self)
                let observation = monitor.observe { call.yield($0) }
                stop(monitor)
                await observation.task.value
                call.finish()
                for await status in calls { #expect(status.kind == .loopback) }
            }
        }

        @Test func aQueueThatIsSuspendedUntilTheStopMakesNoCall() async throws {
            let other = try ReachabilityMonitor()
            defer { other.stop() }
            for _ in 0..<300 {
                let monitor = try ReachabilityMonitor(address: "127.0.0.1")
                let queue = DispatchQueue(label: "linnet.test")
                let (calls, call) = AsyncStream.makeStream(of: ReachabilityStatus.self)
                queue.suspend()
                let observation = monitor.observe(on: queue) { call.yield($0) }
                monitor.stop()
                queue.resume()
                await observation.task.value
                call.finish()
                #expect(await Array(calls).isEmpty)
            }
        }

        @Test func anIteratorThatIsMadeBeforeTheStopHasNoStatus() async throws {
            let monitor = try ReachabilityMonitor(address: "127.0.0.1")
            let statuses = monitor.statuses
            var iterator = statuses.makeAsyncIterator()
            monitor.stop()
            #expect(try await iterator.next() == nil)
        }
    }
}
