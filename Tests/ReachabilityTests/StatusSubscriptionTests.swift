import Testing

@testable import LinnetReachability

/// Deliveries at the end of a run, with each step in a fixed order.
@Suite(.timeLimit(.minutes(5))) struct StatusSubscriptionTests {
    private typealias Observation = ReachabilityMonitor.Observation

    private let wifi = ReachabilityStatus.reachable(
        via: .wifi, interfaceName: "wlan0", supportsIPv4: true, supportsIPv6: true)

    @Test func anIteratorDeliversNothingAfterTheEndOfItsRun() async {
        let hub = StatusHub(status: .notReachable)
        var unread = StatusSequence(hub: hub).makeAsyncIterator()
        var behind = StatusSequence(hub: hub).makeAsyncIterator()
        #expect(await behind.next() == .notReachable)
        hub.publish(wifi, run: 0)
        hub.finish(run: 0)
        #expect(await unread.next() == nil)
        #expect(await unread.next() == nil)
        #expect(await behind.next() == nil)
        #expect(await behind.next() == nil)
    }

    @Test func aSubscriptionToAStoppedMonitorHasTheLastStatusUntilTheNextRunEnds() async {
        let hub = StatusHub(status: .notReachable)
        hub.finish(run: 0)
        var unread = StatusSequence(hub: hub).makeAsyncIterator()
        var read = StatusSequence(hub: hub).makeAsyncIterator()
        #expect(await read.next() == .notReachable)
        #expect(await read.next() == nil)
        hub.begin(wifi, run: 1)
        hub.finish(run: 1)
        #expect(await unread.next() == nil)
    }

    @Test func anObserverIsNotCalledWhenTheRunEndsBeforeItsTaskRuns() async {
        let hub = StatusHub(status: .notReachable)
        let (calls, call) = AsyncStream.makeStream(of: ReachabilityStatus.self)
        let subscription = hub.subscribe()
        hub.publish(wifi, run: 0)
        hub.finish(run: 0)
        await Observation(subscription, on: nil) { call.yield($0) }.task.value
        await Observation(subscription, on: { work in work() }, { call.yield($0) }).task.value
        call.finish()
        #expect(await Array(calls).isEmpty)
    }

    @Test func anObserverMissesAChangeThatItHasNotReadWhenTheRunEnds() async {
        let hub = StatusHub(status: .notReachable)
        let wifi = wifi
        let (calls, call) = AsyncStream.makeStream(of: ReachabilityStatus.self)
        let observation = Observation(hub.subscribe(), on: nil) {
            call.yield($0)
            // The handler is slow: meanwhile the status changes, and the monitor stops.
            hub.publish(wifi, run: 0)
            hub.finish(run: 0)
        }
        await observation.task.value
        call.finish()
        #expect(await Array(calls) == [.notReachable])
    }

    @Test func anEnqueuedCallIsNotMadeAfterTheEndOfTheRun() async {
        let hub = StatusHub(status: .notReachable)
        let (calls, call) = AsyncStream.makeStream(of: ReachabilityStatus.self)
        let (queue, enqueue) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        let observation = Observation(hub.subscribe(), on: { work in enqueue.yield(work) }, { call.yield($0) })
        var works = queue.makeAsyncIterator()
        let first = await works.next()
        first?()
        hub.publish(wifi, run: 0)
        let second = await works.next()
        hub.finish(run: 0)
        let isEnqueued = second != nil
        #expect(isEnqueued)
        second?()
        await observation.task.value
        call.finish()
        #expect(await Array(calls) == [.notReachable])
    }
}
