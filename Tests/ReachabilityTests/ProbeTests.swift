import Glibc
import Synchronization
import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite struct ProbeTests {
        private func makeMonitor(_ probe: ReachabilityProbe?) throws -> ReachabilityMonitor {
            try ReachabilityMonitor(address: "127.0.0.1") { $0.probe = probe }
        }

        @Test func withoutAProbeNothingIsConfirmed() async throws {
            let monitor = try makeMonitor(nil)
            #expect(try await monitor.waitUntilReachable().isConfirmed == nil)
        }

        @Test(arguments: [true, false]) func theResultOfAProbeIsReported(result: Bool) async throws {
            let counter = Counter()
            let (permissions, permission) = AsyncStream.makeStream(of: Void.self)
            let monitor = try makeMonitor(
                .check {
                    for await _ in permissions { break }
                    counter.add()
                    return result
                })
            #expect(monitor.status.isConfirmed == nil)
            permission.yield()
            let status = await monitor.statuses.first { $0.isConfirmed != nil }
            #expect(status?.isConfirmed == result)
            #expect(status?.isReachable == true)
            #expect(counter.count == 1)
        }

        @Test func aWaitIncludesTheProbe() async throws {
            let monitor = try makeMonitor(.check { true })
            #expect(try await monitor.waitUntilReachable().isConfirmed == true)
            let refused = try makeMonitor(.check { false })
            await #expect(throws: ReachabilityError.self) {
                _ = await refused.statuses.first { $0.isConfirmed != nil }
                try await refused.waitUntilReachable(timeout: .seconds(9), clock: InstantClock())
            }
        }

        @Test func aProbeIsCancelledWithItsMonitor() async throws {
            let (starts, start) = AsyncStream.makeStream(of: Void.self)
            let (ends, end) = AsyncStream.makeStream(of: Bool.self)
            let monitor = try makeMonitor(
                .check {
                    start.yield()
                    for await _ in AsyncStream<Void>.makeStream().stream {}
                    end.yield(Task.isCancelled)
                    return true
                })
            var started = starts.makeAsyncIterator()
            await started.next()
            monitor.stop()
            var ended = ends.makeAsyncIterator()
            #expect(await ended.next() == true)
        }

        @Test func stopDoesNotWaitForTheCancellationHandlerOfAProbe() async throws {
            let gate = try Gate()
            let (starts, start) = AsyncStream.makeStream(of: Void.self)
            let (cancellations, cancellation) = AsyncStream.makeStream(of: Bool.self)
            let monitor = try makeMonitor(
                .check {
                    await withTaskCancellationHandler {
                        start.yield()
                        for await _ in AsyncStream<Void>.makeStream().stream {}
                    } onCancel: {
                        // Like a wait for a lock that the caller of stop() holds.
                        cancellation.yield(gate.wait())
                    }
                    return true
                })
            var started = starts.makeAsyncIterator()
            await started.next()
            monitor.stop()
            gate.open()
            var cancelled = cancellations.makeAsyncIterator()
            #expect(await cancelled.next() == true)
        }

        @Test func aConnectionConfirmsThePath() async throws {
            let listener = try Listener()
            let monitor = try makeMonitor(.connection(to: "127.0.0.1", port: listener.port))
            #expect(await monitor.statuses.first { $0.isConfirmed != nil }?.isConfirmed == true)
            listener.close()
            // A port that nothing else can listen on meanwhile.
            let refusing = try Listener(accepts: false)
            let other = try makeMonitor(.connection(to: "127.0.0.1", port: refusing.port))
            #expect(await other.statuses.first { $0.isConfirmed != nil }?.isConfirmed == false)
            refusing.close()
        }

        private final class Counter: Sendable {
            private let value = Atomic<Int>(0)

            var count: Int { value.load(ordering: .relaxed) }

            func add() { value.add(1, ordering: .relaxed) }
        }

        /// Makes a thread wait for another one: a pipe, because the wait has a limit.
        private final class Gate: Sendable {
            private struct CannotOpen: Error {}

            private let reader: OwnedDescriptor
            private let writer: OwnedDescriptor

            init() throws {
                var numbers: [Int32] = [-1, -1]
                guard pipe(&numbers) == 0 else { throw CannotOpen() }
                reader = OwnedDescriptor(owning: numbers[0])
                writer = OwnedDescriptor(owning: numbers[1])
            }

            func open() {
                var byte: UInt8 = 0
                _ = Glibc.write(writer.number, &byte, 1)
            }

            /// Returns whether the gate was opened, after 20 seconds at the latest.
            func wait() -> Bool {
                var descriptor = pollfd(fd: reader.number, events: Int16(POLLIN), revents: 0)
                while true {
                    let count = Glibc.poll(&descriptor, 1, 20_000)
                    if count >= 0 || errno != EINTR { return count == 1 }
                }
            }
        }

        /// A TCP socket that accepts connections in its queue, or refuses them.
        private struct Listener {
            private struct CannotListen: Error {}

            let port: UInt16
            private let descriptor: Int32

            init(accepts: Bool = true) throws {
                descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
                var address = sockaddr_in()
                address.sin_family = sa_family_t(AF_INET)
                address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
                var length = socklen_t(MemoryLayout<sockaddr_in>.size)
                let number = descriptor
                let isListening = withUnsafeMutablePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(number, $0, length) == 0 && (!accepts || listen(number, 8) == 0)
                            && getsockname(number, $0, &length) == 0
                    }
                }
                guard isListening else { throw CannotListen() }
                port = UInt16(bigEndian: address.sin_port)
            }

            func close() { Glibc.close(descriptor) }
        }
    }
}
