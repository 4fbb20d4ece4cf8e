import Dispatch
import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite struct WaitingTests {
        /// A monitor of the machine's own address, which every kernel can reach.
        private func makeMonitor() throws -> ReachabilityMonitor { try ReachabilityMonitor(address: "127.0.0.1") }

        /// A monitor of an address that no kernel routes: the zone does not exist.
        private func makeUnreachable() throws -> ReachabilityMonitor {
            try ReachabilityMonitor(address: "fe80::1%linnet-none")
        }

        private func code(_ body: () async throws(ReachabilityError) -> Void) async -> ReachabilityError.Code? {
            do {
                try await body()
                return nil
            } catch {
                return error.code
            }
        }

        @Test func aReachableDestinationNeedsNoWait() async throws {
            let monitor = try makeMonitor()
            #expect(try await monitor.waitUntilReachable(timeout: .zero, clock: ContinuousClock()).kind == .loopback)
            #expect(try await monitor.waitUntilReachable() == monitor.status)
        }

        @Test func theWaitEndsAfterTheTimeout() async throws {
            let monitor = try makeUnreachable()
            #expect(monitor.status.obstacle == .noRoute)
            let code = await code { () throws(ReachabilityError) in
                try await monitor.waitUntilReachable(timeout: .seconds(30), clock: InstantClock())
            }
            #expect(code == .notReachable)
        }

        @Test func theWaitEndsWithTheMonitor() async throws {
            let monitor = try makeUnreachable()
            let wait = Task { await code { () throws(ReachabilityError) in try await monitor.waitUntilReachable() } }
            monitor.stop()
            #expect(await wait.value == .stopped)
        }

        @Test func aCancelledWaitEnds() async throws {
            let monitor = try makeUnreachable()
            let wait = Task { await code { () throws(ReachabilityError) in try await monitor.waitUntilReachable() } }
            wait.cancel()
            #expect(await wait.value == .cancelled)
        }

        @Test func anImmenseTimeoutCanBeWaitedFor() async throws {
            let monitor = try makeUnreachable()
            let wait = Task {
                await code { () throws(ReachabilityError) in
                    try await monitor.waitUntilReachable(timeout: .seconds(Int64.max))
                }
            }
            wait.cancel()
            #expect(await wait.value == .cancelled)
        }

        @Test func aMonitorCanBeStartedAndStoppedInAnyOrder() async throws {
            let monitor = try makeMonitor()
            try monitor.start()
            monitor.stop()
            monitor.stop()
            #expect(monitor.status.isReachable)
            #expect(await Array(monitor.statuses) == [monitor.status])
            try monitor.start()
            try monitor.start()
            var statuses = StatusSequence(hub: monitor.hub).makeAsyncIterator()
            #expect(await statuses.next() == monitor.status)
            monitor.stop()
            #expect(await statuses.next() == nil)
        }

        @Test func startAndStopFromManyThreadsEndInAStateThatCanBeLeft() async throws {
            let monitor = try makeMonitor()
            await withTaskGroup { group in
                for number in 0..<32 {
                    group.addTask { if number.isMultiple(of: 2) { monitor.stop() } else { try? monitor.start() } }
                }
            }
            try monitor.start()
            #expect(monitor.status.isReachable)
            monitor.stop()
            #expect(await Array(monitor.statuses) == [monitor.status])
        }

        @Test func anObserverIsCalledOnItsQueue() async throws {
            let monitor = try makeMonitor()
            let key = DispatchSpecificKey<Int>()
            let queue = DispatchQueue(label: "linnet.test")
            queue.setSpecific(key: key, value: 7)
            let (calls, call) = AsyncStream.makeStream(of: Int?.self)
            monitor.observe(on: queue) { _ in call.yield(DispatchQueue.getSpecific(key: key)) }
            var iterator = calls.makeAsyncIterator()
            #expect(await iterator.next() == .some(7))
            monitor.stop()
        }
    }
}
