import Testing

@testable import LinnetTesting

@Suite struct InboundQueueTests {
    /// A part that retains its queue, as a stream of HTTP/2 does.
    private final class Part: Sendable {
        let queue: InboundQueue<Part>

        init(_ queue: InboundQueue<Part>) {
            self.queue = queue
        }
    }

    @Test(arguments: [false, true]) func anAbandonedQueueRetainsNoPart(isFinished: Bool) async throws {
        weak var before: Part?
        weak var after: Part?
        let queue = InboundQueue<Part>()
        do {
            let (first, second) = (Part(queue), Part(queue))
            (before, after) = (first, second)
            queue.push(first)
            if isFinished { queue.finish() }
            queue.abandon()
            queue.push(second)
        }
        #expect(before == nil)
        #expect(after == nil)
        #expect(try await queue.next() == nil)
    }
}
