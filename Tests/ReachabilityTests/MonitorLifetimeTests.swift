import Glibc
import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite struct MonitorLifetimeTests {
        private func entries(_ path: String) -> [String] {
            guard let folder = opendir(path) else { return [] }
            defer { closedir(folder) }
            var names: [String] = []
            while let entry = readdir(folder) {
                names.append(
                    withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
                )
            }
            return names
        }

        private func openSockets() -> Int {
            entries("/proc/self/fd").count { name in
                var buffer = [CChar](repeating: 0, count: 256)
                let count = readlink("/proc/self/fd/\(name)", &buffer, buffer.count)
                return count > 0
                    && String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
                        .hasPrefix("socket:")
            }
        }

        @Test func stopLeavesNoThreadAndNoDescriptor() throws {
            let sockets = openSockets()
            let threads = entries("/proc/self/task").count
            let monitors = try (0..<40).map { _ in try ReachabilityMonitor() }
            #expect(openSockets() == sockets + 4 * 40)
            #expect(entries("/proc/self/task").count >= 40)
            for monitor in monitors {
                monitor.stop()
                monitor.stop()
            }
            #expect(openSockets() == sockets)
            // Threads of Swift's own come and go meanwhile.
            #expect(entries("/proc/self/task").count < threads + 20)
            #expect(monitors.allSatisfy { $0.status.isKnown })
        }

        @Test func aMonitorThatGoesStopsToo() async throws {
            let sockets = openSockets()
            var monitor: ReachabilityMonitor? = try ReachabilityMonitor()
            let statuses = try #require(monitor?.statuses)
            var iterator = statuses.makeAsyncIterator()
            #expect(await iterator.next()?.isKnown == true)
            monitor = nil
            #expect(openSockets() == sockets)
            while await iterator.next() != nil {}
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

        @Test func anObserverMayStopTheMonitor() async throws {
            let sockets = openSockets()
            let monitor = try ReachabilityMonitor()
            let (calls, call) = AsyncStream.makeStream(of: Void.self)
            monitor.observe { [weak monitor] _ in
                monitor?.stop()
                call.yield()
            }
            var iterator = calls.makeAsyncIterator()
            await iterator.next()
            #expect(openSockets() == sockets)
        }
    }
}
