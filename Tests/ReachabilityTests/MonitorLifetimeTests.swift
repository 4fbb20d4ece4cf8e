import Glibc
import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite struct MonitorLifetimeTests {
        /// The number of netlink sockets that have joined multicast groups. All monitors share one; nothing else in
        /// this process has such sockets, although parallel tests open other sockets.
        private func listeningSockets() -> Int {
            Folder.entries("/proc/self/fd").compactMap { Int32($0) }.count { descriptor in
                // The Glibc module lacks `struct sockaddr_nl`: family, padding, port, groups.
                var address = sockaddr_storage()
                var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
                return withUnsafeMutableBytes(of: &address) { bytes in
                    guard let base = bytes.baseAddress,
                        getsockname(descriptor, base.assumingMemoryBound(to: sockaddr.self), &length) == 0
                    else { return false }
                    let family = bytes.load(fromByteOffset: 0, as: UInt16.self)
                    return Int32(family) == AF_NETLINK && bytes.load(fromByteOffset: 8, as: UInt32.self) != 0
                }
            }
        }

        @Test func stopLeavesNoThreadAndNoDescriptor() throws {
            let sockets = listeningSockets()
            let threads = Folder.entries("/proc/self/task").count
            let monitors = try (0..<40).map { _ in try ReachabilityMonitor() }
            #expect(listeningSockets() == sockets + 1)
            for monitor in monitors {
                monitor.stop()
                monitor.stop()
            }
            #expect(listeningSockets() == sockets)
            // The number of threads of the Swift concurrency pool can change meanwhile.
            #expect(Folder.entries("/proc/self/task").count < threads + 20)
            #expect(!monitors.isEmpty && monitors.allSatisfy { $0.status.isKnown })
        }

        @Test func aDeinitializedMonitorStops() async throws {
            let sockets = listeningSockets()
            var monitor: ReachabilityMonitor? = try ReachabilityMonitor()
            let statuses = try #require(monitor?.statuses)
            var iterator = statuses.makeAsyncIterator()
            #expect(try await iterator.next()?.isKnown == true)
            monitor = nil
            #expect(listeningSockets() == sockets)
            while try await iterator.next() != nil {}
        }

        @Test func stoppingFromManyThreadsIsSafe() async throws {
            let monitor = try ReachabilityMonitor()
            await withTaskGroup { group in
                for _ in 0..<8 { group.addTask { monitor.stop() } }
            }
            #expect(await Array(monitor.statuses) == [monitor.status])
        }

        @Test func everySequenceStartsWithTheCurrentStatusAndEndsWithTheMonitor() async throws {
            let monitor = try ReachabilityMonitor()
            let status = monitor.status
            let (started, start) = AsyncStream.makeStream(of: Void.self)
            let readers = (0..<4).map { _ in
                Task {
                    var seen: [ReachabilityStatus] = []
                    for await status in monitor.statuses {
                        if seen.isEmpty { start.yield() }
                        seen.append(status)
                    }
                    return seen
                }
            }
            var arrivals = started.makeAsyncIterator()
            for _ in readers { await arrivals.next() }
            monitor.stop()
            for reader in readers { #expect(await reader.value.first == status) }
        }

        @Test func aCancelledReaderEnds() async throws {
            let monitor = try ReachabilityMonitor()
            defer { monitor.stop() }
            let reader = Task { await Array(monitor.statuses).count }
            reader.cancel()
            #expect(await reader.value <= 1)
        }

        @Test func anObserverIsCalledWithTheCurrentStatus() async throws {
            let monitor = try ReachabilityMonitor()
            let (calls, call) = AsyncStream.makeStream(of: ReachabilityStatus.self)
            let observation = monitor.observe { call.yield($0) }
            var iterator = calls.makeAsyncIterator()
            #expect(await iterator.next() == monitor.status)
            observation.cancel()
            observation.cancel()
            monitor.stop()
        }

        @Test func anObserverCanStopTheMonitor() async throws {
            let sockets = listeningSockets()
            let monitor = try ReachabilityMonitor()
            let (calls, call) = AsyncStream.makeStream(of: Void.self)
            monitor.observe { [weak monitor] _ in
                monitor?.stop()
                call.yield()
            }
            var iterator = calls.makeAsyncIterator()
            await iterator.next()
            #expect(listeningSockets() == sockets)
        }
    }
}
