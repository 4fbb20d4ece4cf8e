import NIOCore
import Synchronization
import Testing

@testable import LinnetTransport

@Suite("The channel of a response's body", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct ResponseBodyChannelTests {
    /// Collects the jobs that a channel schedules.
    private final class Later: Sendable {
        private let jobs = Mutex<[@Sendable () -> Void]>([])

        var count: Int { jobs.withLock { $0.count } }

        func add(_ job: @escaping @Sendable () -> Void) { jobs.withLock { $0.append(job) } }

        func run() {
            let due = jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            for job in due { job() }
        }
    }

    private func makeChannel(
        _ later: Later? = nil, resumed: @escaping @Sendable () -> Void = {}
    ) -> ResponseBodyChannel {
        guard let later else { return ResponseBodyChannel(resumeReading: resumed, abandonExchange: { _ in }) }
        return ResponseBodyChannel(
            runLater: { later.add($0) }, resumeReading: resumed, abandonExchange: { _ in })
    }

    private let completion = TransportResponseBody.Completion(trailers: nil, metrics: TransportMetrics())

    @Test func theReaderTakesAllWaitingBytes() async throws {
        let channel = makeChannel()
        for text in ["a", "b", "c"] { #expect(channel.push(ByteBuffer(string: text))) }
        #expect(try await channel.nextBatch()?.map { String(buffer: $0) } == ["a", "b", "c"])
        #expect(channel.push(ByteBuffer(string: "d")))
        channel.finish(.success(completion))
        #expect(channel.completion == nil)
        #expect(try await channel.nextBatch()?.count == 1)
        #expect(channel.completion != nil)
        #expect(try await channel.nextBatch() == nil)
        #expect(try await channel.nextBatch() == nil)
    }

    /// A buffer traps beyond 4 GiB, so that larger limits are reduced.
    @Test func theLimitOfABodyIsABuffersCapacity() {
        func limit(_ delivery: ResponseDelivery) -> Int {
            HTTPExchange(
                request: .http2(delivery: delivery), observer: nil, timeouts: TransportTimeouts(), deadline: nil,
                mayBeStale: false, metrics: TransportMetrics()
            ).collectionLimit
        }
        #expect(limit(.whole(upTo: 5)) == 5)
        #expect(limit(.whole(upTo: ResponseDelivery.defaultLimit)) == ResponseDelivery.defaultLimit)
        #expect(limit(.whole(upTo: .max)) == ByteBuffer.largestBody)
        #expect(limit(.streamed) == ByteBuffer.largestBody)
        #expect(UInt32(exactly: ByteBuffer.largestBody + 2 * 1_048_576) != nil)
    }

    /// Slices of a read that are a small part of it are copied together; others are delivered as they are.
    @Test func smallSlicesKeepNoLargeBufferAlive() async throws {
        let exchange = HTTPExchange(
            request: .http2(delivery: .streamed), observer: nil, timeouts: TransportTimeouts(), deadline: nil,
            mayBeStale: false, metrics: TransportMetrics())
        let channel = makeChannel()
        exchange.bodyChannel = channel
        let read = ByteBuffer(repeating: 0x61, count: 4_096)
        for lengths in [[1], [1, 1, 1], [2_000, 1, 1_000]] {
            for length in lengths {
                var slice = try #require(read.getSlice(at: 7, length: length))
                let error = exchange.received(&slice)
                #expect(error == nil)
            }
            exchange.deliverArrived()
        }
        let batch = try #require(try await channel.nextBatch())
        #expect(batch.map(\.readableBytes) == [1, 3, 2_000, 1, 1_000])
        #expect(batch.prefix(2).allSatisfy { $0.storageCapacity <= 64 })
        #expect(batch.dropFirst(2).allSatisfy { $0.storageCapacity == read.storageCapacity })
        #expect(exchange.metrics.responseBodyBytes == 3_005)
    }

    /// The last bytes are delivered before the end.
    @Test func bytesThatArriveWithTheEndAreDelivered() async throws {
        let exchange = HTTPExchange(
            request: .http2(delivery: .streamed), observer: nil, timeouts: TransportTimeouts(), deadline: nil,
            mayBeStale: false, metrics: TransportMetrics())
        let channel = makeChannel()
        exchange.bodyChannel = channel
        var bytes = ByteBuffer(string: "last")
        let error = exchange.received(&bytes)
        #expect(error == nil)
        exchange.handOver(exchange.complete(trailers: nil))
        #expect(try await channel.nextBatch()?.map { String(buffer: $0) } == ["last"])
        #expect(try await channel.nextBatch() == nil)
    }

    @Test func takingResumesReading() async throws {
        let resumed = Atomic(0)
        let channel = makeChannel { resumed.add(1, ordering: .relaxed) }
        let half = ByteBuffer(repeating: 0, count: 128 * 1024)
        let answers = [channel.push(half), channel.push(half), channel.push(half)]
        #expect(answers == [true, false, false])
        #expect(try await channel.nextBatch()?.count == 3)
        #expect(resumed.load(ordering: .relaxed) == 1)
        #expect(channel.push(half))
    }

    @Test func aWaitingReaderIsWokenOnceForABurst() async throws {
        let later = Later()
        let channel = makeChannel(later)
        let batches = AsyncStream<[String]>.makeStream()
        let reader = Task {
            while let batch = try await channel.nextBatch() {
                batches.continuation.yield(batch.map { String(buffer: $0) })
            }
            batches.continuation.finish()
        }
        // The wake-up is scheduled once the reader waits.
        while later.count == 0 {
            #expect(channel.push(ByteBuffer(string: "x")))
            if later.count == 0 { await Task.yield() }
        }
        #expect(channel.push(ByteBuffer(string: "y")))
        #expect(channel.push(ByteBuffer(string: "z")))
        #expect(later.count == 1)
        later.run()
        var iterator = batches.stream.makeAsyncIterator()
        while let batch = await iterator.next() {
            guard batch.contains("y") else { continue }
            #expect(batch.suffix(2) == ["y", "z"])
            break
        }
        channel.finish(.success(completion))
        try await reader.value
    }

    @Test func theEndWakesAReaderWithTheRest() async throws {
        let later = Later()
        let channel = makeChannel(later)
        let reader = Task {
            var all = ""
            while let batch = try await channel.nextBatch() { all += batch.map { String(buffer: $0) }.joined() }
            return all
        }
        var pushed = ""
        while later.count == 0 {
            #expect(channel.push(ByteBuffer(string: "x")))
            pushed += "x"
            if later.count == 0 { await Task.yield() }
        }
        channel.finish(.success(completion))
        #expect(try await reader.value == pushed)
        // Late calls have no effect.
        later.run()
    }

    @Test func aSecondReaderFailsAndTheFirstGoesOn() async throws {
        let channel = makeChannel()
        let outcomes = AsyncStream<Result<Int?, any Error>>.makeStream()
        for _ in 0..<2 {
            Task {
                do {
                    outcomes.continuation.yield(.success(try await channel.nextBatch()?.count))
                } catch {
                    outcomes.continuation.yield(.failure(error))
                }
            }
        }
        var iterator = outcomes.stream.makeAsyncIterator()
        // One of them waits for bytes.
        let first = await iterator.next()
        #expect(throws: TransportError.self) { try first?.get() }
        #expect(channel.push(ByteBuffer(string: "a")))
        #expect(try await iterator.next()?.get() == 1)
    }

    @Test func aFailureComesAfterTheReceivedBytes() async throws {
        let channel = makeChannel()
        #expect(channel.push(ByteBuffer(string: "a")))
        channel.finish(.failure(TransportError(.connectionClosed, "Gone.")))
        #expect(try await channel.nextBatch()?.count == 1)
        let error = await #expect(throws: TransportError.self) { _ = try await channel.nextBatch() }
        #expect(error?.code == .connectionClosed)
    }
}
