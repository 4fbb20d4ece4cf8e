import Testing

@testable import LinnetTesting

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5))) struct HTTP2StreamMachineTests {
    private static func machine(_ configure: (inout MockServer.Configuration) -> Void) -> HTTP2StreamMachine {
        HTTP2StreamMachine(MockServer.Configuration(configure))
    }

    @Test func streamsAreCountedAndServed() {
        var machine = Self.machine { _ in }
        let verdicts = [1, 3, 9].map { machine.arrive($0) }
        #expect(verdicts == [.served(0), .served(1), .served(2)])
        #expect(!machine.isGoAwayDue)
        #expect(!machine.isIdle)
    }

    @Test(arguments: [
        (true, HTTP2StreamMachine.Verdict.refused), (false, .ignored),
    ])
    func streamsAfterGoAwayAreNotServed(_ refuses: Bool, _ verdict: HTTP2StreamMachine.Verdict) {
        var machine = Self.machine {
            $0.http2.goAway = .after(2)
            $0.http2.refusesLateStreams = refuses
        }
        _ = machine.arrive(1)
        #expect(!machine.isGoAwayDue)
        _ = machine.arrive(5)
        #expect(machine.isGoAwayDue)
        let (first, second) = (machine.goAway(), machine.goAway())
        #expect(first == 5)
        #expect(second == nil)
        #expect(!machine.isGoAwayDue)
        let later = machine.arrive(7)
        #expect(later == verdict)
    }

    @Test func aConnectionIsDoneWhenItsStreamsAreClosed() {
        var machine = Self.machine { $0.maximumRequestsPerConnection = 2 }
        _ = machine.arrive(1)
        _ = machine.arrive(3)
        _ = machine.goAway()
        machine.answered(1)
        machine.closed(1)
        #expect(!machine.isDone)
        machine.answered(3)
        #expect(machine.isIdle)
        #expect(!machine.isDone)
        machine.closed(3)
        #expect(machine.isDone)
    }

    @Test func refusedStreamsCountAsArrivedAndNotAsServed() {
        var machine = Self.machine {
            $0.http2.refusedStreams = [1]
            $0.http2.goAway = .after(2)
        }
        let verdicts = [1, 3, 5].map { machine.arrive($0) }
        #expect(verdicts == [.served(0), .refused, .served(2)])
        #expect(machine.isGoAwayDue)
        let last = machine.goAway()
        #expect(last == 5)
    }

    @Test func goAwayBeforeAnyRequestNamesNoStream() {
        var machine = Self.machine { _ in }
        let last = machine.goAway()
        #expect(last == 0)
        #expect(machine.isDone)
    }
}
