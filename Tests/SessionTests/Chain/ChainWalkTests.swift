import FoundationEssentials
import HTTPTypes
import LinnetSerialization
import LinnetTransport
import Synchronization
import Testing

@testable import LinnetSession

/// The way of a flight past links that are told what to do.
@Suite(.timeLimit(.minutes(1)))
struct ChainWalkTests {
    /// Answers with the steps that it was given, one for each call, and then lets everything pass.
    private final class Script: ChainLink {
        let name: String
        private let steps: Mutex<[Result<ChainStep, SessionError>]>
        private let calls = Mutex<[String]>([])

        init(_ name: String, _ steps: [Result<ChainStep, SessionError>] = []) {
            self.name = name
            self.steps = Mutex(steps)
        }

        /// The calls, each with the agent of its request.
        var log: [String] { calls.withLock { $0 } }

        private func next(_ call: String, _ flight: Flight) throws(SessionError) -> ChainStep {
            calls.withLock { $0.append("\(call) \(flight.request.headerFields[.userAgent] ?? "-")") }
            let step = steps.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            return try step?.get() ?? .proceed
        }

        func send(_ flight: inout Flight) throws(SessionError) -> ChainStep { try next("send", flight) }

        func sendAgain(_ flight: inout Flight) throws(SessionError) -> ChainStep { try next("again", flight) }

        func receive(_ response: inout StreamedResponse, _ flight: inout Flight) throws(SessionError) -> ChainStep {
            try next("\(response.status.code)", flight)
        }

        func receive(_ failure: inout SessionError, _ flight: inout Flight) throws(SessionError) -> ChainStep {
            try next("\(failure.code)", flight)
        }
    }

    private let flight: Flight

    init() throws {
        flight = try .test()
    }

    private func request(_ agent: String) -> SessionRequest {
        var request = flight.request
        request.headerFields[.userAgent] = agent
        return request
    }

    private func metrics(_ count: Int) -> [TransportMetrics] { Array(repeating: TransportMetrics(), count: count) }

    @Test func aRequestPassesAllLinksBothWays() throws {
        let links = [Script("a"), Script("b")]
        var (walk, flight) = (ChainWalk(), flight)
        guard case .send = walk.next(in: links, &flight) else { throw Unexpected() }
        walk.receive(.success(try .test()))
        guard case .end = walk.next(in: links, &flight), case .success(let response)? = walk.outcome else {
            throw Unexpected()
        }
        #expect(response.metrics.count == 1)
        #expect(links.map(\.log) == [["send -", "200 -"], ["send -", "200 -"]])
    }

    @Test func aLinkSeesTheRequestThatItHasSent() throws {
        let links = [
            Script("a", [.success(.change(to: request("a")))]), Script("b", [.success(.change(to: request("b")))]),
            Script("c"),
        ]
        var (walk, flight) = (ChainWalk(), flight)
        guard case .send = walk.next(in: links, &flight) else { throw Unexpected() }
        #expect(flight.request.headerFields[.userAgent] == "b")
        walk.receive(.success(try .test()))
        guard case .end = walk.next(in: links, &flight) else { throw Unexpected() }
        #expect(links.map(\.log) == [["send -", "200 a"], ["send a", "200 b"], ["send b", "200 b"]])
        #expect(flight.request.headerFields[.userAgent] == nil)
    }

    @Test func anAnswerTurnsTheRequestAround() throws {
        let links = [
            Script("a"), Script("b", [.success(.end(.success(try .test(.accepted, attempts: 0))))]), Script("c"),
        ]
        var (walk, flight) = (ChainWalk(), flight)
        guard case .end = walk.next(in: links, &flight) else { throw Unexpected() }
        #expect(links.map(\.log) == [["send -", "202 -"], ["send -"], []])
    }

    @Test func anErrorEndsAtItsLink() throws {
        let error = SessionError(.redirectRefused, "No.", url: flight.request.url)
        let links = [Script("a"), Script("b", [.success(.proceed), .failure(error)]), Script("c")]
        var (walk, flight) = (ChainWalk(), flight)
        guard case .send = walk.next(in: links, &flight) else { throw Unexpected() }
        walk.receive(.success(try .test()))
        guard case .end = walk.next(in: links, &flight), case .failure(let failure)? = walk.outcome else {
            throw Unexpected()
        }
        #expect(failure.code == .redirectRefused)
        #expect(links.map(\.log) == [["send -", "redirectRefused -"], ["send -", "200 -"], ["send -", "200 -"]])
    }

    @Test func aLinkIsAskedAgainOnceItsQuestionIsAnswered() throws {
        let question = ChainStep.ask(.adapted(by: []))
        let links = [Script("a", [.success(question), .success(.proceed), .success(question)])]
        var (walk, flight) = (ChainWalk(), flight)
        guard case .ask = walk.next(in: links, &flight) else { throw Unexpected() }
        flight.answer = .adapted(flight.request)
        #expect(flight.hasAnswer)
        guard case .send = walk.next(in: links, &flight) else { throw Unexpected() }
        walk.receive(.success(try .test()))
        guard case .ask = walk.next(in: links, &flight) else { throw Unexpected() }
        flight.answer = .adapted(flight.request)
        guard case .end = walk.next(in: links, &flight) else { throw Unexpected() }
        #expect(links.map(\.log) == [["send -", "send -", "200 -", "200 -"]])
    }

    @Test func theFailureOfAQuestionGoesUpFromItsLink() throws {
        let links = [Script("a"), Script("b", [.success(.ask(.adapted(by: [])))])]
        var (walk, flight) = (ChainWalk(), flight)
        guard case .ask = walk.next(in: links, &flight) else { throw Unexpected() }
        walk.fail(.cancelled(flight.request.url), &flight)
        guard case .end = walk.next(in: links, &flight) else { throw Unexpected() }
        #expect(links.map(\.log) == [["send -", "cancelled -"], ["send -"]])
    }

    @Test func theAttemptsOfRepeatsComeFirst() throws {
        let links = [
            Script("a", [.success(.proceed), .success(.again(request("a"), otherwise: .fail))]),
            Script("b", [.success(.proceed), .success(.again(request("b"), otherwise: .fail))]),
        ]
        var (walk, flight) = (ChainWalk(), flight)
        guard case .send = walk.next(in: links, &flight) else { throw Unexpected() }
        walk.receive(.success(try .test(attempts: 1)))
        guard case .again(let first, _, _) = walk.next(in: links, &flight) else { throw Unexpected() }
        walk.sendAgain(first, after: metrics(1), &flight)
        guard case .send = walk.next(in: links, &flight) else { throw Unexpected() }
        walk.receive(.failure(SessionError(.timeout, "Late.", url: nil).adding(metrics(2))))
        guard case .again(let second, _, _) = walk.next(in: links, &flight), case .failure(let failure)? = walk.outcome
        else {
            throw Unexpected()
        }
        // The link above sees both attempts of the link below.
        #expect(failure.metrics.count == 3)
        walk.sendAgain(second, after: metrics(3), &flight)
        guard case .send = walk.next(in: links, &flight) else { throw Unexpected() }
        walk.receive(.success(try .test(attempts: 4)))
        guard case .end = walk.next(in: links, &flight), case .success(let response)? = walk.outcome else {
            throw Unexpected()
        }
        #expect(response.metrics.count == 7)
        #expect(
            links.map(\.log) == [
                ["send -", "timeout -", "again a", "200 a"],
                ["send -", "200 -", "again b", "timeout b", "send a", "200 a"],
            ])
    }

    @Test func aBodyIsReadBeforeTheResponseGoesUp() throws {
        for outcome in [Flight.Outcome.success(try .test(.accepted)), .failure(.cancelled(nil))] {
            var (walk, flight) = (ChainWalk(), flight)
            let links = [Script("a"), Script("b", [.success(.proceed), .success(.read)])]
            guard case .send = walk.next(in: links, &flight) else { throw Unexpected() }
            walk.receive(.success(try .test()))
            guard case .read = walk.next(in: links, &flight) else { throw Unexpected() }
            walk.read(outcome, &flight)
            guard case .end = walk.next(in: links, &flight) else { throw Unexpected() }
            #expect(links[0].log.last == (outcome.error == nil ? "202 -" : "cancelled -"))
        }
    }

    @Test func aWayCanBeginBelowTheTop() throws {
        let links = [Script("a"), Script("b")]
        var (walk, flight) = (ChainWalk(from: 1), flight)
        guard case .send = walk.next(in: links, &flight) else { throw Unexpected() }
        walk.receive(.success(try .test()))
        guard case .end = walk.next(in: links, &flight) else { throw Unexpected() }
        #expect(links.map(\.log) == [[], ["send -", "200 -"]])
    }
}

/// An action that a test does not expect.
struct Unexpected: Error {}
