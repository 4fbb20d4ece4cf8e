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
        let first = machine.begin(.notReachable)
        #expect(machine.status == .notReachable)
        _ = machine.finish(run: first)
        let second = machine.begin(wifi)
        #expect(machine.subscribe("a").current == wifi)
        #expect(machine.publish(.notReachable, run: first) == nil)
        #expect(machine.status == wifi)
        #expect(machine.publish(.notReachable, run: second) == ["a"])
    }

    @Test func theEndOfARunLeavesTheNextOneAlone() {
        var machine = StatusStateMachine<String>(status: .unknown)
        let first = machine.begin(.notReachable)
        _ = machine.subscribe("a")
        let second = machine.begin(wifi)
        _ = machine.subscribe("b")
        #expect(machine.finish(run: first) == ["a"])
        #expect(machine.finish(run: first) == [])
        #expect(machine.isFinished == false)
        #expect(machine.publish(.notReachable, run: second) == ["b"])
        #expect(machine.subscribe("c").id != nil)
        #expect(machine.finish(run: second).sorted() == ["b", "c"])
        #expect(machine.isFinished == true)
    }

    @Test func aHubWhoseLastRunEndsLateKeepsPublishing() async {
        let hub = StatusHub(status: .unknown)
        let first = hub.begin(.notReachable)
        var former = StatusSequence(hub: hub).makeAsyncIterator()
        let second = hub.begin(.notReachable)
        var current = StatusSequence(hub: hub).makeAsyncIterator()
        hub.finish(run: first)
        hub.publish(wifi, run: second)
        #expect(hub.status == wifi)
        #expect(await former.next() == .notReachable)
        #expect(await former.next() == nil)
        #expect(await current.next() == .notReachable)
        #expect(await current.next() == wifi)
        hub.finish(run: second)
        #expect(await current.next() == nil)
    }

    @Test func aReaderSkipsToTheNewestAndSeesNoStatusTwice() async {
        let hub = StatusHub(status: .notReachable)
        var iterator = StatusSequence(hub: hub).makeAsyncIterator()
        var first = await iterator.next()
        #expect(first == .notReachable)
        hub.publish(wifi, run: 0)
        hub.publish(.notReachable, run: 0)
        hub.finish(run: 0)
        first = await iterator.next()
        #expect(first == nil)

        let other = StatusHub(status: .notReachable)
        let statuses = StatusSequence(hub: other)
        var slow = statuses.makeAsyncIterator()
        other.publish(.unknown, run: 0)
        other.publish(wifi, run: 0)
        other.finish(run: 0)
        #expect(await slow.next() == .notReachable)
        #expect(await slow.next() == wifi)
        #expect(await slow.next() == nil)
        #expect(await Array(statuses) == [wifi])
    }
}

extension Array where Element: Sendable {
    init(_ sequence: some AsyncSequence<Element, Never>) async {
        self = []
        for await element in sequence { append(element) }
    }
}
