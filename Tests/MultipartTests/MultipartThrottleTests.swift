import FoundationEssentials
import LinnetMultipart
import LinnetSerialization
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct MultipartThrottleTests {
    /// Records durations instead of sleeping.
    private final class RecordingClock: Clock {
        struct Instant: InstantProtocol {
            var offset = Duration.zero
            func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
            func duration(to other: Instant) -> Duration { other.offset - offset }
            static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
        }

        private let state = Mutex((now: Instant(), sleeps: [Duration]()))

        var now: Instant { state.withLock { $0.now } }
        var minimumResolution: Duration { .nanoseconds(1) }
        var sleeps: [Duration] { state.withLock { $0.sleeps } }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            try Task.checkCancellation()
            state.withLock {
                $0.sleeps.append($0.now.duration(to: deadline))
                $0.now = deadline
            }
        }
    }

    private func sizes(_ form: MultipartForm) async throws -> [Int] {
        var reader = try form.makeBody().makeReader()
        var sizes: [Int] = []
        while let chunk = try await reader.next() { sizes.append(chunk.count) }
        return sizes
    }

    @Test func packetsAreLimitedAndDelayed() async throws {
        let clock = RecordingClock()
        var form = MultipartForm()
        form.append(Data(repeating: 1, count: 1000), name: "p")
        form.throttle(packetSize: 300, delay: .milliseconds(200), clock: clock)
        let length = Int(try #require(form.contentLength))
        let sizes = try await sizes(form)
        #expect(sizes.count > 3 && sizes.dropLast().allSatisfy { $0 == 300 })
        #expect(sizes.reduce(0, +) == length)
        #expect(clock.sleeps == [Duration](repeating: .milliseconds(200), count: sizes.count - 1))
    }

    @Test func piecesOfAStreamFillAPacket() async throws {
        var form = MultipartForm()
        form.append(chunks: Elements(elements: [Data](repeating: Data([1]), count: 100)), name: "s", length: nil)
        form.throttle(packetSize: 50, delay: .zero, clock: RecordingClock())
        let sizes = try await sizes(form)
        #expect(sizes.count > 3 && sizes.dropLast().allSatisfy { $0 == 50 })
    }

    @Test func replaysAreThrottled() async throws {
        let clock = RecordingClock()
        var form = MultipartForm()
        form.append(Data(repeating: 1, count: 100), name: "p")
        form.throttle(packetSize: 100, delay: .seconds(1), clock: clock)
        let first = try await sizes(form)
        let second = try await sizes(form)
        #expect(first == second)
        #expect(clock.sleeps.count == 2 * (first.count - 1))
    }

    @Test func packetIsTheSmallerOfTheTwoSizes() async throws {
        let clock = RecordingClock()
        var form = MultipartForm()
        form.append(Data(repeating: 1, count: 1000), name: "p")
        form.throttle(packetSize: 100_000, delay: .zero, clock: clock)
        form.chunkSize = 128
        let chunks = try await sizes(form)
        #expect(chunks.count > 7 && chunks.dropLast().allSatisfy { $0 == 128 })
        form.throttle(packetSize: -5, delay: .seconds(-1), clock: clock)
        let bytes = try await sizes(form)
        #expect(bytes.count > 1000 && bytes.allSatisfy { $0 == 1 })
        #expect(!clock.sleeps.isEmpty && clock.sleeps.allSatisfy { $0 == .zero })
    }

    @Test(arguments: [.seconds(3600), .seconds(Int64.max)] as [Duration])
    func cancellingEndsAPause(delay: Duration) async throws {
        let clock = ContinuousClock()
        var form = MultipartForm()
        form.append(Data(repeating: 1, count: 1000), name: "p")
        form.throttle(packetSize: 10, delay: delay, clock: clock)
        let held = form
        let task = Task { try await collect(held) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(arguments: [(1, 1), (7, 7), (0, 1), (-1, 1), (100_000, 100_000), (Int.max, 16 << 20)])
    func chunksHaveTheConfiguredSize(wanted: Int, size: Int) async throws {
        var form = MultipartForm()
        form.append(Data(repeating: 1, count: wanted > 1000 ? 17 << 20 : 100), name: "p")
        form.chunkSize = wanted
        let sizes = try await sizes(form)
        #expect(!sizes.isEmpty && sizes.dropLast().allSatisfy { $0 == size })
        #expect(Int64(sizes.reduce(0, +)) == form.contentLength)
    }
}
