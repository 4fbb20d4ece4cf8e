import Testing

@testable import LinnetTransport

@Suite("HTTP/1.1 connection, as a state machine", .leavesNothingAlive, .timeLimit(.minutes(5)))
struct HTTP1StateMachineTests {
    private func started(
        hasBody: Bool = false, expectsContinue: Bool = false, asksToClose: Bool = false
    ) -> HTTP1StateMachine {
        var machine = HTTP1StateMachine()
        expectEqual(machine.start(hasBody: hasBody, expectsContinue: expectsContinue, asksToClose: asksToClose), true)
        return machine
    }

    @Test func aCompletedExchangeFreesTheConnection() {
        var machine = started()
        expectEqual(machine.receivedHead(status: 200, keepsAlive: true), .deliver)
        expectEqual(machine.receivedEnd(), .complete)
        #expect(machine.state == .idle)
        expectEqual(machine.start(hasBody: false, expectsContinue: false, asksToClose: false), true)
    }

    @Test func aBusyConnectionTakesNoSecondExchange() {
        var machine = started()
        expectEqual(machine.start(hasBody: false, expectsContinue: false, asksToClose: false), false)
    }

    @Test(arguments: [(true, true), (false, false), (true, false)])
    func eitherSideCanCloseTheConnection(asksToClose: Bool, keepsAlive: Bool) {
        var machine = started(asksToClose: asksToClose)
        _ = machine.receivedHead(status: 200, keepsAlive: keepsAlive)
        expectEqual(machine.receivedEnd(), .completeAndClose)
        #expect(machine.state == .closed)
    }

    @Test func informationalResponsesAreForwarded() {
        var machine = started()
        for status in [103, 102, 103] { expectEqual(machine.receivedInformational(status: status), .forward) }
    }

    @Test func switchingProtocolsWithoutARequestIsAnError() {
        var machine = started()
        expectEqual(machine.receivedInformational(status: 101), .fail(.switchedProtocols))
    }

    @Test func aSwitchOfProtocolsThatWasAskedForEndsHTTPOnTheConnection() {
        var machine = HTTP1StateMachine()
        expectEqual(
            machine.start(hasBody: false, expectsContinue: false, asksToClose: false, mayUpgrade: true), true)
        expectEqual(machine.receivedInformational(status: 103), .forward)
        expectEqual(machine.receivedInformational(status: 101), .switchProtocols)
        #expect(machine.state == .closed)
        expectEqual(machine.start(hasBody: false, expectsContinue: false, asksToClose: false), false)
    }

    @Test func aSwitchOfProtocolsBeforeTheEndOfTheRequestIsAnError() {
        var machine = HTTP1StateMachine()
        expectEqual(machine.start(hasBody: true, expectsContinue: false, asksToClose: false, mayUpgrade: true), true)
        expectEqual(machine.receivedInformational(status: 101), .fail(.switchedProtocols))
    }

    @Test func continueReleasesTheBodyOnce() {
        var machine = started(hasBody: true, expectsContinue: true)
        #expect(machine.requestPhase == .awaitingContinue)
        expectEqual(machine.receivedInformational(status: 100), .forwardAndSendBody)
        expectEqual(machine.receivedInformational(status: 100), .forward)
        expectEqual(machine.continueTimedOut(), false)
    }

    @Test func theBodyIsSentWhenContinueTimesOut() {
        var machine = started(hasBody: true, expectsContinue: true)
        expectEqual(machine.continueTimedOut(), true)
        #expect(machine.requestPhase == .sendingBody)
    }

    @Test func aFinalResponseInsteadOfContinueAbandonsTheBody() {
        var machine = started(hasBody: true, expectsContinue: true)
        expectEqual(machine.receivedHead(status: 417, keepsAlive: true), .deliverAndAbandonBody)
        expectEqual(machine.continueTimedOut(), false)
        expectEqual(machine.receivedEnd(), .completeAndClose)
    }

    @Test(arguments: [307, 308, 401, 413, 500])
    func anEarlyRefusalAbandonsTheBody(status: Int) {
        var machine = started(hasBody: true)
        expectEqual(machine.receivedHead(status: status, keepsAlive: true), .deliverAndAbandonBody)
        #expect(machine.requestPhase == .abandoned)
        expectEqual(machine.receivedEnd(), .completeAndClose)
    }

    @Test(arguments: [200, 201, 302, 303])
    func anEarlySuccessContinuesTheBody(status: Int) {
        var machine = started(hasBody: true)
        expectEqual(machine.receivedHead(status: status, keepsAlive: true), .deliver)
        expectEqual(machine.requestBodyEnded(), nil)
        expectEqual(machine.receivedEnd(), .complete)
    }

    @Test func aResponseThatEndsBeforeTheRequestIsHeldUntilTheRequestIsSent() {
        var machine = started(hasBody: true)
        _ = machine.receivedHead(status: 200, keepsAlive: true)
        expectEqual(machine.receivedEnd(), .hold)
        #expect(machine.state == .busy)
        expectEqual(machine.requestBodyEnded(), .complete)
        #expect(machine.state == .idle)
    }

    @Test func aHeldResponseIsCompleteWhenTheConnectionBreaks() {
        var machine = started(hasBody: true)
        _ = machine.receivedHead(status: 200, keepsAlive: true)
        expectEqual(machine.requestBodyBroke(), nil)
        expectEqual(machine.receivedEnd(), .hold)
        expectEqual(machine.requestBodyBroke(), .completeAndClose)
        #expect(machine.state == .closed)
    }

    @Test func aServerThatClosesAfterItsResponseReceivesNoMoreOfTheBody() {
        var machine = started(hasBody: true)
        expectEqual(machine.receivedHead(status: 200, keepsAlive: false), .deliver)
        #expect(machine.requestPhase == .sendingBody)
        expectEqual(machine.receivedEnd(), .completeAndClose)
    }

    @Test func aHeldResponseClosesTheConnectionIfTheRequestAskedForIt() {
        var machine = started(hasBody: true, asksToClose: true)
        _ = machine.receivedHead(status: 200, keepsAlive: true)
        expectEqual(machine.receivedEnd(), .hold)
        expectEqual(machine.requestBodyEnded(), .completeAndClose)
    }

    @Test func eventsOutOfOrderAreErrors() {
        var idle = HTTP1StateMachine()
        expectEqual(idle.receivedHead(status: 200, keepsAlive: true), .fail(.unexpectedResponse))
        expectEqual(idle.receivedInformational(status: 103), .fail(.unexpectedResponse))
        expectEqual(idle.receivedEnd(), .fail(.unexpectedResponse))
        var busy = started()
        expectEqual(busy.receivedEnd(), .fail(.unexpectedResponse))
        _ = busy.receivedHead(status: 200, keepsAlive: true)
        expectEqual(busy.receivedHead(status: 200, keepsAlive: true), .fail(.unexpectedResponse))
        expectEqual(busy.receivedInformational(status: 103), .fail(.unexpectedResponse))
    }

    @Test func aClosedConnectionStaysClosed() {
        var machine = started()
        machine.close()
        #expect(machine.state == .closed)
        expectEqual(machine.start(hasBody: false, expectsContinue: false, asksToClose: false), false)
    }
}
