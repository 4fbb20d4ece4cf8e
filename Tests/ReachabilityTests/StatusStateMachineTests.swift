import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(5))) struct StatusStateMachineTests {
    private let wifi = ReachabilityStatus.reachable(
        via: .wifi, interfaceName: "wlan0", supportsIPv4: true, supportsIPv6: true)

    @Test func onlyChangesArePublished() {
        var machine = StatusStateMachine<String>(status: .notReachable)
        #expect(machine.subscribe("a").current == .notReachable)
        #expect(machine.publish(.notReachable, run: 0) == nil)
        #expect(machine.publish(wifi, run: 0) == ["a"])
        #expect(machine.publish(wifi, run: 0) == nil)
        #expect(machine.status == wifi)
    }

    @Test func aRemovedSubscriberIsNotNotified() throws {
        var machine = StatusStateMachine<String>(status: .notReachable)
        let id = try #require(machine.subscribe("a").id)
        _ = machine.subscribe("b")
        machine.unsubscribe(id)
        machine.unsubscribe(id)
        #expect(machine.publish(wifi, run: 0) == ["b"])
    }

    @Test func finishNotifiesOnceAndNothingFollows() {
        var machine = StatusStateMachine<String>(status: wifi)
        _ = machine.subscribe("a")
        #expect(machine.finish(run: 0) == ["a"])
        #expect(machine.finish(run: 0) == [])
        #expect(machine.publish(.notReachable, run: 0) == nil)
        let late = machine.subscribe("b")
        #expect(late.current == wifi)
        #expect(late.id == nil)
    }

    @Test func aRunThatIsOverPublishesNothing() {
        var machine = StatusStateMachine<String>(status: .unknown)
        #expect(machine.begin(.notReachable, run: 1) == true)
        #expect(machine.status == .notReachable)
        _ = machine.finish(run: 1)
        #expect(machine.begin(wifi, run: 2) == true)
        #expect(machine.subscribe("a").current == wifi)
        #expect(machine.publish(.notReachable, run: 1) == nil)
        #expect(machine.status == wifi)
        #expect(machine.publish(.notReachable, run: 2) == ["a"])
    }

    @Test func theEndOfARunLeavesTheNextOneAlone() {
        var machine = StatusStateMachine<String>(status: .unknown)
        #expect(machine.begin(.notReachable, run: 1) == true)
        _ = machine.subscribe("a")
        #expect(machine.begin(wifi, run: 2) == true)
        _ = machine.subscribe("b")
        #expect(machine.finish(run: 1) == ["a"])
        #expect(machine.finish(run: 1) == [])
        #expect(machine.isOver(1) == true)
        #expect(machine.isFinished == false)
        #expect(machine.publish(.notReachable, run: 2) == ["b"])
        #expect(machine.subscribe("c").id != nil)
        #expect(machine.finish(run: 2).sorted() == ["b", "c"])
        #expect(machine.isFinished == true)
    }

    @Test func theEndOfARunEndsAllEarlierRuns() {
        var machine = StatusStateMachine<String>(status: .unknown)
        #expect(machine.begin(.notReachable, run: 1) == true)
        _ = machine.subscribe("a")
        #expect(machine.begin(wifi, run: 2) == true)
        _ = machine.subscribe("b")
        #expect(machine.finish(run: 2).sorted() == ["a", "b"])
        #expect(machine.finish(run: 1) == [])
    }

    @Test func aRunThatEndsBeforeItBeginsDoesNotBegin() {
        var machine = StatusStateMachine<String>(status: .notReachable)
        _ = machine.finish(run: 0)
        let early = machine.subscribe("a")
        #expect(machine.isOver(early.run) == false)
        #expect(machine.finish(run: 1) == [])
        #expect(machine.isOver(early.run) == true)
        let late = machine.subscribe("b")
        #expect(machine.isOver(late.run) == false)
        #expect(machine.begin(wifi, run: 1) == false)
        #expect(machine.status == .notReachable)
        #expect(machine.isFinished == true)
        #expect(machine.begin(wifi, run: 2) == true)
        #expect(machine.isFinished == false)
    }

    @Test func aSubscriptionToARunThatIsOverIsOver() {
        var machine = StatusStateMachine<String>(status: .unknown)
        #expect(machine.begin(.notReachable, run: 1) == true)
        #expect(machine.subscribe("a", in: 1).id != nil)
        _ = machine.finish(run: 1)
        #expect(machine.begin(wifi, run: 2) == true)
        let former = machine.subscribe("b", in: 1)
        #expect(former.id == nil)
        #expect(machine.isOver(former.run) == true)
        #expect(machine.publish(.notReachable, run: 2) == [])
    }

    @Test func aHubWhoseLastRunEndsLateKeepsPublishing() async {
        let hub = StatusHub(status: .unknown)
        hub.begin(.notReachable, run: 1)
        var former = StatusSequence(hub: hub).makeAsyncIterator()
        hub.begin(.notReachable, run: 2)
        var current = StatusSequence(hub: hub).makeAsyncIterator()
        hub.finish(run: 1)
        hub.publish(wifi, run: 2)
        #expect(hub.status == wifi)
        #expect(await former.next() == nil)
        #expect(await current.next() == .notReachable)
        #expect(await current.next() == wifi)
        hub.finish(run: 2)
        #expect(await current.next() == nil)
    }

    @Test func aReaderSkipsToTheNewest() async {
        let hub = StatusHub(status: .notReachable)
        let statuses = StatusSequence(hub: hub)
        var slow = statuses.makeAsyncIterator()
        hub.publish(.unknown, run: 0)
        hub.publish(wifi, run: 0)
        #expect(await slow.next() == .notReachable)
        #expect(await slow.next() == wifi)
        hub.finish(run: 0)
        #expect(await slow.next() == nil)
        #expect(await Array(statuses) == [wifi])
    }

    @Test func aReaderSeesNoStatusTwice() async {
        let hub = StatusHub(status: .notReachable)
        // The newest unread change can be one back to the status that was read.
        let (changes, change) = AsyncStream.makeStream(of: ReachabilityStatus.self)
        change.yield(.notReachable)
        change.yield(wifi)
        change.finish()
        var iterator = StatusSequence.Iterator(
            StatusSubscription(hub: hub, run: 0, isLate: false, current: .notReachable, changes: changes))
        #expect(await iterator.next() == .notReachable)
        #expect(await iterator.next() == wifi)
        #expect(await iterator.next() == nil)
    }
}

extension Array where Element: Sendable {
    init(_ sequence: some AsyncSequence<Element, Never>) async {
        self = []
        for await element in sequence { append(element) }
    }
}
