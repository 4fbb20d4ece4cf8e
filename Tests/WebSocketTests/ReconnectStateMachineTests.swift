import HTTPTypes
import Testing

@testable import LinnetSession
@testable import LinnetWebSocket

@Suite("The state of a WebSocket that reconnects", .timeLimit(.minutes(1)))
struct ReconnectStateMachineTests {
    private typealias Machine = ReconnectStateMachine<Int>

    private static func options(limit: Int = .max) -> ReconnectingWebSocket.Options {
        var options = ReconnectingWebSocket.Options()
        options.retryPolicy.limit = limit
        options.retryPolicy.backoff.jitter = 0
        return options
    }

    private static func closed(_ code: UInt16) -> WebSocketError {
        .closed(by: WebSocket.Closure(code: WebSocket.CloseCode(rawValue: code), reason: ""))
    }

    private static func refused(_ status: HTTPResponse.Status, retryAfter: String? = nil) -> WebSocketError {
        var error = SessionError(.unacceptableStatus, "No.")
        error.head = HTTPResponse(status: status)
        error.head?.headerFields[.retryAfter] = retryAfter
        return .openingFailed(error)
    }

    private func delay(after error: WebSocketError) -> Duration? {
        Self.options().delay(after: 1, error)
    }

    @Test func theDefaultDelaysFollowRFC6455Section723() {
        let options = ReconnectingWebSocket.Options()
        for (failures, most) in [(1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (1_000_000, 60)] {
            for _ in 0..<20 {
                let delay = options.delay(after: failures, .connectionLost())
                #expect(delay.map { .zero <= $0 && $0 <= .seconds(most) } == true)
            }
        }
    }

    @Test func attemptsWithoutDelaysAreLimitedToo() {
        var options = Self.options(limit: 3)
        options.retryPolicy.backoff.maximum = .zero
        var machine = Machine(options)
        let delays = (0..<4).map { _ in machine.failed(.connectionLost(), lifetime: .zero) }
        #expect(delays == [.zero, .zero, .zero, nil])
    }

    @Test(arguments: [UInt16(1001), 1011, 1012, 1013, 1014])
    func closeCodesOfAServerThatComesBackAreFollowedByAnAttempt(code: UInt16) {
        #expect(delay(after: Self.closed(code)) == .seconds(5))
    }

    @Test(arguments: [UInt16(1000), 1002, 1003, 1005, 1007, 1008, 1009, 1010, 3000, 4001])
    func otherCloseCodesAreFinal(code: UInt16) {
        #expect(delay(after: Self.closed(code)) == nil)
        var options = Self.options()
        options.closeCodes.insert(WebSocket.CloseCode(rawValue: code))
        #expect(options.delay(after: 1, Self.closed(code)) == .seconds(5))
    }

    @Test func onlyALostOrSilentConnectionIsFollowedByAnAttempt() {
        for error in [WebSocketError.connectionLost(), WebSocketError(.pongTimeout, "Silent.")] {
            #expect(delay(after: error) == .seconds(5))
        }
        for code in [WebSocketError.Code.protocolViolation, .invalidText, .messageTooLarge, .closed] {
            #expect(delay(after: WebSocketError(code, "Wrong.")) == nil)
        }
    }

    @Test(arguments: [
        (SessionError.Code.connectionFailed, true), (.connectionLost, true), (.nameResolutionFailed, true),
        (.timeout, true), (.trustRefused, false), (.invalidResponse, false), (.shutDown, false), (.cancelled, false),
        (.invalidRequest, false),
    ])
    func transientErrorsOfAnOpeningAreFollowedByAnAttempt(code: SessionError.Code, isTransient: Bool) {
        var error = SessionError(code, "No.")
        // The timeout of one attempt, not of the WebSocket.
        error.timeout = .request
        #expect(delay(after: .openingFailed(error)) == (isTransient ? .seconds(5) : nil))
    }

    @Test func onlyTransientStatusesAreFollowedByAnAttempt() {
        for status in [HTTPResponse.Status.tooManyRequests, .badGateway, .serviceUnavailable] {
            #expect(delay(after: Self.refused(status)) == .seconds(5))
        }
        for status in [HTTPResponse.Status.ok, .unauthorized, .forbidden, .notFound, .upgradeRequired] {
            #expect(delay(after: Self.refused(status)) == nil)
        }
        #expect(delay(after: Self.refused(.serviceUnavailable, retryAfter: "17")) == .seconds(17))
        #expect(delay(after: Self.refused(.serviceUnavailable, retryAfter: "61")) == nil)
    }

    @Test func anyDelayCanBeWaitedFor() {
        var options = Self.options()
        options.retryPolicy.maximumRetryAfter = .seconds(Int64.max)
        let error = Self.refused(.serviceUnavailable, retryAfter: String(Int64.max))
        #expect(options.delay(after: .max, error) == .longestWait)
    }

    // MARK: The machine

    private func step(_ machine: inout Machine) throws -> String {
        let step = try machine.beginReading()
        machine.endReading()
        switch step {
        case .read(let socket): return "read \(socket)"
        case .open(let delay): return "open after \(delay)"
        case .finish(.success): return "end"
        case .finish(.failure(let error)): return "\(error.code)"
        }
    }

    @Test func consecutiveFailuresWaitLongerUntilAMessageArrives() throws {
        var machine = Machine(Self.options())
        #expect(try step(&machine) == "open after \(Duration.zero)")
        for seconds in [5, 10, 20] {
            #expect(machine.failed(.connectionLost(), lifetime: .zero) == .seconds(seconds))
            #expect(try step(&machine) == "open after \(Duration.seconds(seconds))")
        }
        // To be opened is not enough: a server may close each connection at once.
        #expect(machine.opened(1) == true)
        #expect(machine.failed(.connectionLost(), lifetime: .seconds(59)) == .seconds(40))
        #expect(machine.opened(2) == true)
        #expect(try step(&machine) == "read 2")
        machine.received()
        #expect(machine.failed(.connectionLost(), lifetime: .zero) == .seconds(5))
    }

    @Test func aConnectionThatLastedStartsAgain() {
        var machine = Machine(Self.options(limit: 1))
        #expect(machine.failed(.connectionLost(), lifetime: .zero) == .seconds(5))
        #expect(machine.opened(1) == true)
        #expect(machine.failed(.connectionLost(), lifetime: .seconds(60)) == .seconds(5))
        #expect(machine.failed(.connectionLost(), lifetime: .zero) == nil)
    }

    @Test func theLastOfTooManyFailuresIsTheEnd() throws {
        var machine = Machine(Self.options(limit: 2))
        #expect(machine.failed(.connectionLost(), lifetime: .zero) != nil)
        #expect(machine.failed(Self.refused(.serviceUnavailable), lifetime: .zero) != nil)
        #expect(machine.failed(Self.closed(1012), lifetime: .zero) == nil)
        #expect(try step(&machine) == "closed")
        #expect(throws: WebSocketError.self) { try machine.connection() }
    }

    @Test(arguments: [(UInt16(1000), true), (1005, true), (1008, false), (4000, false)])
    func anOrderlyEndIsNoError(code: UInt16, isOrderly: Bool) throws {
        var machine = Machine(Self.options())
        #expect(machine.opened(1) == true)
        #expect(machine.failed(Self.closed(code), lifetime: .zero) == nil)
        #expect(try step(&machine) == (isOrderly ? "end" : "closed"))
    }

    @Test func thereIsOneReader() throws {
        var machine = Machine(Self.options())
        _ = try machine.beginReading()
        let error = #expect(throws: WebSocketError.self) { _ = try machine.beginReading() }
        #expect(error?.code == .hasReader)
        machine.endReading()
        _ = try machine.beginReading()
    }

    @Test func withoutAConnectionThereIsNothingToSendOn() throws {
        var machine = Machine(Self.options())
        #expect(throws: WebSocketError.self) { try machine.connection() }
        #expect(machine.opened(7) == true)
        #expect(try machine.connection() == 7)
        _ = machine.failed(.connectionLost(), lifetime: .zero)
        let lost = #expect(throws: WebSocketError.self) { try machine.connection() }
        #expect(lost?.code == .notConnected)
        #expect(machine.close() == nil)
        let closed = #expect(throws: WebSocketError.self) { try machine.connection() }
        #expect(closed?.code == .closed)
    }

    @Test func afterCloseNothingIsOpened() throws {
        var waiting = Machine(Self.options())
        _ = waiting.failed(.connectionLost(), lifetime: .zero)
        #expect(waiting.close() == nil)
        #expect(waiting.opened(1) == false)
        #expect(waiting.failed(.connectionLost(), lifetime: .zero) == nil)
        #expect(try step(&waiting) == "end")

        var open = Machine(Self.options())
        #expect(open.opened(1) == true)
        #expect(open.close() == 1)
        // Messages that arrive before the server's answer are read.
        #expect(try step(&open) == "read 1")
        #expect(open.failed(.connectionLost(), lifetime: .zero) == nil)
        #expect(try step(&open) == "end")
        #expect(open.close() == nil)
    }
}
