import LinnetTransport
import Testing

@testable import LinnetSession

@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct TaskStateMachineTests {
    enum Event: CaseIterable, Sendable { case resume, suspend, cancel, succeed, fail }

    /// The result of each event in each state.
    static let table: [(path: [Event], event: Event, state: TaskState)] = [
        ([], .resume, .running), ([], .suspend, .suspended), ([], .cancel, .completed),
        ([.resume], .resume, .running), ([.resume], .suspend, .suspended), ([.resume], .cancel, .cancelling),
        ([.resume], .succeed, .completed), ([.resume], .fail, .completed),
        ([.resume, .suspend], .resume, .running), ([.resume, .suspend], .suspend, .suspended),
        ([.resume, .suspend], .cancel, .cancelling), ([.resume, .suspend], .fail, .completed),
        ([.resume, .cancel], .resume, .cancelling), ([.resume, .cancel], .suspend, .cancelling),
        ([.resume, .cancel], .cancel, .cancelling), ([.resume, .cancel], .succeed, .completed),
        ([.resume, .succeed], .resume, .completed), ([.resume, .succeed], .suspend, .completed),
        ([.resume, .succeed], .cancel, .completed), ([.cancel], .resume, .completed),
    ]

    @Test(arguments: table)
    func eachEventLeadsToTheStateInTheTable(path: [Event], event: Event, state: TaskState) {
        var machine = TaskStateMachine()
        for step in path { machine.apply(step) }
        machine.apply(event)
        #expect(machine.state == state)
    }

    @Test func startsOnceAndOpensTheGateAfterwards() {
        var machine = TaskStateMachine()
        guard case .start = machine.resume() else { return fail("no start") }
        guard case .none = machine.resume() else { return fail("resumed twice") }
        expectChange(machine.suspend())
        #expect(machine.isGateClosed)
        expectNoChange(machine.suspend())
        guard case .openGate = machine.resume() else { return fail("gate stays closed") }
        #expect(!machine.isGateClosed)
    }

    @Test func aCancelledTaskIsCancelledEvenIfTheWorkSucceeds() {
        var machine = TaskStateMachine()
        _ = machine.resume()
        guard case .stop = machine.cancel(.cancelled(nil)) else { return fail("no stop") }
        guard case .fail(let error) = machine.complete(successfully: true) else { return fail("succeeded") }
        #expect(error.code == .cancelled)
        guard case .none = machine.complete(successfully: true) else { return fail("completed twice") }
    }

    @Test func aCommittedTaskCannotBeCancelled() {
        var machine = TaskStateMachine()
        guard case .stop = machine.commit() else { return fail("committed before it began") }
        _ = machine.resume()
        expectChange(machine.suspend())
        guard case .wait = machine.commit() else { return fail("committed while it was suspended") }
        _ = machine.resume()
        guard case .goOn = machine.commit() else { return fail("not committed") }
        #expect(machine.state == .running)
        guard case .none = machine.cancel(.cancelled(nil)) else { return fail("cancelled") }
        expectNoChange(machine.suspend())
        guard case .none = machine.resume() else { return fail("resumed") }
        guard case .deliver = machine.complete(successfully: true) else { return fail("not delivered") }
        #expect(machine.state == .completed)
    }

    @Test func aCancelledTaskCannotBeCommitted() {
        var machine = TaskStateMachine()
        _ = machine.resume()
        _ = machine.cancel(.cancelled(nil))
        guard case .stop = machine.commit() else { return fail("committed") }
    }

    @Test func cancellingBeforeTheStartCompletesAtOnce() {
        var machine = TaskStateMachine()
        guard case .complete(let error) = machine.cancel(.cancelled(nil)) else { return fail("no end") }
        #expect(error.code == .cancelled)
        guard case .none = machine.cancel(.cancelled(nil)) else { return fail("cancelled twice") }
        guard case .none = machine.resume() else { return fail("started") }
    }

    /// The transport sends a request again when its connection was gone, and the body from its start.
    @Test func anAttemptAgainDoesNotCountTwice() {
        var machine = TaskStateMachine()
        _ = machine.resume()
        expectChange(machine.willSend(total: 10))
        expectChange(machine.didSend(6))
        machine.didEndAttempt()
        expectNoChange(machine.didSend(6))
        expectChange(machine.didSend(4))
        #expect(machine.progress.upload.completed == 10)
    }

    @Test func progressNeverGoesBack() {
        var machine = TaskStateMachine()
        _ = machine.resume()
        expectChange(machine.willSend(total: 10))
        expectChange(machine.didSend(6))
        // Sent again, from the start.
        expectNoChange(machine.willSend(total: 10))
        expectNoChange(machine.didSend(5))
        #expect(machine.progress.upload.completed == 6)
        expectChange(machine.didSend(5))
        #expect(machine.progress.upload == TransferProgress(completed: 10, total: 10))
    }

    @Test func aRequestThatIsSentAgainCountsFromItsOwnStart() {
        var machine = TaskStateMachine()
        _ = machine.resume()
        _ = machine.willSend(total: 10)
        _ = machine.didSend(8)
        _ = machine.willSend(total: 10)
        expectNoChange(machine.didSend(5))
        #expect(machine.progress.upload == TransferProgress(completed: 8, total: 10))
    }

    @Test func aShorterRequestsTotalIsAtLeastTheSentBytes() {
        var machine = TaskStateMachine()
        _ = machine.resume()
        _ = machine.willSend(total: 10)
        _ = machine.didSend(10)
        _ = machine.willSend(total: 4)
        #expect(machine.progress.upload == TransferProgress(completed: 10, total: 10))
    }

    @Test func aResponseToARequestThatIsSentAgainTakesNothingBack() {
        var machine = TaskStateMachine()
        _ = machine.resume()
        _ = machine.willReceive(total: 10)
        _ = machine.didReceive(8)
        _ = machine.willReceive(total: 10)
        expectNoChange(machine.didReceive(5))
        #expect(machine.progress.download == TransferProgress(completed: 8, total: 10))
    }

    @Test func unknownTotalsAreKnownAfterASuccess() {
        var machine = TaskStateMachine()
        _ = machine.resume()
        expectChange(machine.didReceive(7))
        #expect(machine.progress.download.fraction == nil)
        _ = machine.complete(successfully: true)
        #expect(machine.progress.download == TransferProgress(completed: 7, total: 7))
        expectNoChange(machine.didReceive(1))
    }

    @Test func failuresLeaveTheProgressAlone() {
        var machine = TaskStateMachine()
        _ = machine.resume()
        _ = machine.didReceive(7)
        _ = machine.complete(successfully: false)
        #expect(machine.progress.download == TransferProgress(completed: 7, total: nil))
    }

    @Test func fractions() {
        #expect(TransferProgress(completed: 1, total: 4).fraction == 0.25)
        #expect(TransferProgress(completed: 0, total: 0).fraction == 1)
        #expect(TransferProgress(completed: 9, total: 4).fraction == 1)
        #expect(!TransferProgress(completed: 9).isFinished)
    }
}

private func fail(_ message: Comment, sourceLocation: SourceLocation = #_sourceLocation) {
    Issue.record(message, sourceLocation: sourceLocation)
}

private func expectChange(_ hasChanged: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(hasChanged, sourceLocation: sourceLocation)
}

private func expectNoChange(_ hasChanged: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(!hasChanged, sourceLocation: sourceLocation)
}

extension TaskStateMachine {
    fileprivate mutating func apply(_ event: TaskStateMachineTests.Event) {
        switch event {
        case .resume: _ = resume()
        case .suspend: _ = suspend()
        case .cancel: _ = cancel(.cancelled(nil))
        case .succeed: _ = complete(successfully: true)
        case .fail: _ = complete(successfully: false)
        }
    }
}
