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
        #expect(machine.finish() == ["a"])
        #expect(machine.finish() == [])
        #expect(machine.publish(.notReachable, run: 0) == nil)
        let late = machine.subscribe("b")
        #expect(late.current == wifi)
        #expect(late.id == nil)
    }

    @Test func aRunThatIsOverPublishesNothing() {
        var machine = StatusStateMachine<String>(status: .unknown)
        let first = machine.begin(.notReachable)
        #expect(machine.status == .notReachable)
        _ = machine.finish()
        let second = machine.begin(wifi)
        #expect(machine.subscribe("a").current == wifi)
        #expect(machine.publish(.notReachable, run: first) == nil)
        #expect(machine.status == wifi)
        #expect(machine.publish(.notReachable, run: second) == ["a"])
    }

    @Test func aReaderSkipsToTheNewestAndSeesNoStatusTwice() async {
        let hub = StatusHub(status: .notReachable)
        var iterator = StatusSequence(hub: hub).makeAsyncIterator()
        var first = await iterator.next()
        #expect(first == .notReachable)
        hub.publish(wifi, run: 0)
        hub.publish(.notReachable, run: 0)
        hub.finish()
        first = await iterator.next()
        #expect(first == nil)

        let other = StatusHub(status: .notReachable)
        let statuses = StatusSequence(hub: other)
        var slow = statuses.makeAsyncIterator()
        other.publish(.unknown, run: 0)
        other.publish(wifi, run: 0)
        other.finish()
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
