import NIOCore
import Testing

@testable import LinnetTransport

@Suite("The way of a request", .timeLimit(.minutes(1)))
struct RequestDeliveryTests {
    private let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private func deadline(
        _ delivery: inout RequestDelivery, _ acknowledged: Int64, _ underWay: Int64, secondsAgo: Int64 = 0
    ) -> NIODeadline? {
        delivery.deadline(
            .init(acknowledged: acknowledged, underWay: underWay, sinceLast: .seconds(secondsAgo)), idle: .seconds(60),
            now: now)
    }

    @Test func eachAcknowledgementIsProgress() {
        var delivery = RequestDelivery(.init(acknowledged: 1_000, underWay: 500))
        #expect(deadline(&delivery, 1_000, 500) == nil)
        #expect(deadline(&delivery, 1_001, 499) == now + .seconds(60))
        #expect(deadline(&delivery, 1_001, 499) == nil)
        // The time runs from the acknowledgement.
        #expect(deadline(&delivery, 1_499, 1, secondsAgo: 50) == now + .seconds(10))
        #expect(deadline(&delivery, 1_500, 0, secondsAgo: 60) == nil)
    }

    /// Other requests share the connection of HTTP/2.
    @Test func laterBytesOfTheConnectionAreNoProgress() {
        var delivery = RequestDelivery(.init(acknowledged: 1_000, underWay: 500))
        #expect(deadline(&delivery, 1_600, 10_000) == now + .seconds(60))
        #expect(deadline(&delivery, 9_000, 10_000) == nil)
    }

    /// For a unix socket, the system reports only the unread bytes.
    @Test func aFallingQueueIsProgress() {
        var delivery = RequestDelivery(.init(acknowledged: -500, underWay: 500))
        #expect(deadline(&delivery, -300, 300) == now + .seconds(60))
        #expect(deadline(&delivery, -300, 300) == nil)
        #expect(deadline(&delivery, 0, 0) == now + .seconds(60))
        #expect(deadline(&delivery, 0, 0) == nil)
    }
}
