import LinnetMessages
import NIOCore
import Testing

@testable import LinnetTransport

@Suite("Name cache machine", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct NameCacheMachineTests {
    private typealias Machine = NameCacheMachine<Int>
    private static let start = ContinuousClock.now

    private let error = TransportError(.nameResolutionFailed, "none")

    private func addresses(_ text: String = "192.0.2.1") throws -> NameAnswer {
        .addresses([try SocketAddress(ipAddress: text, port: 0)])
    }

    /// The step of a lookup, as text.
    private func lookUp(
        _ machine: inout Machine, _ name: String = "a", waiter: Int = 0, after: Duration = .zero
    ) -> String {
        switch machine.lookUp(name, waiter: waiter, now: Self.start + after) {
        case .answer(.addresses(let addresses)): addresses.compactMap(\.ipAddress).joined(separator: " ")
        case .answer(.unknown): "unknown"
        case .answer(.failed): "failed"
        case .wait: "wait"
        case .ask: "ask"
        }
    }

    private func ask(
        _ machine: inout Machine, _ name: String = "a", waiter: Int = 0, after: Duration = .zero
    ) throws -> Machine.Query {
        guard case .ask(let ticket) = machine.lookUp(name, waiter: waiter, now: Self.start + after) else {
            throw TransportError(.invalidRequest, "\(name) was not asked for")
        }
        return ticket.query
    }

    /// The place of a waiter for a name without an answer.
    private func wait(_ machine: inout Machine, _ name: String = "a", waiter: Int = 0) throws -> Machine.Ticket {
        switch machine.lookUp(name, waiter: waiter, now: Self.start) {
        case .wait(let ticket), .ask(let ticket): return ticket
        case .answer: throw TransportError(.invalidRequest, "\(name) has an answer")
        }
    }

    private func answer(
        _ machine: inout Machine, _ query: Machine.Query, _ answer: NameAnswer, after: Duration = .zero
    ) -> [Int] {
        machine.answered(query, answer, now: Self.start + after)
    }

    @Test func anAnswerIsKeptForItsLifetime() throws {
        var machine = Machine(lifetime: .seconds(60))
        let query = try ask(&machine, waiter: 7)
        let waiters = answer(&machine, query, try addresses(), after: .seconds(5))
        #expect(waiters == [7])
        let kept = [0, 64].map { lookUp(&machine, after: .seconds(5 + $0 * 59 / 64)) }
        #expect(kept == ["192.0.2.1", "192.0.2.1"])
        let late = lookUp(&machine, after: .seconds(65))
        #expect(late == "ask")
        #expect(machine.count == 0)
    }

    @Test func everyoneWaitsForOneQuestion() throws {
        var machine = Machine(lifetime: .seconds(60))
        let query = try ask(&machine, waiter: 1)
        let others = [2, 3].map { lookUp(&machine, waiter: $0) }
        #expect(others == ["wait", "wait"])
        let otherName = lookUp(&machine, "b", waiter: 4)
        #expect(otherName == "ask")
        let waiters = answer(&machine, query, try addresses())
        #expect(waiters == [1, 2, 3])
        let again = answer(&machine, query, try addresses())
        #expect(again.isEmpty)
    }

    // MARK: Waiters that leave

    @Test func aQueryWithoutWaitersIsNotMade() throws {
        var machine = Machine(lifetime: .seconds(60))
        let tickets = [try wait(&machine, waiter: 1), try wait(&machine, waiter: 2)]
        #expect(Set(tickets.map(\.query)).count == 1)
        let first = machine.cancel(tickets[1])
        #expect(first == nil)
        let last = machine.cancel(tickets[0])
        #expect(last == tickets[0].query)
        let again = machine.cancel(tickets[0])
        #expect(again == nil)
        let begins = machine.begin(tickets[0].query)
        #expect(!begins)
        let next = lookUp(&machine)
        #expect(next == "ask")
    }

    @Test func theOtherWaitersKeepTheirQuery() throws {
        var machine = Machine(lifetime: .seconds(60))
        let tickets = [try wait(&machine, waiter: 1), try wait(&machine, waiter: 2), try wait(&machine, waiter: 3)]
        let abandoned = machine.cancel(tickets[0])
        #expect(abandoned == nil)
        let begins = machine.begin(tickets[0].query)
        #expect(begins)
        let waiters = answer(&machine, tickets[0].query, try addresses())
        #expect(waiters == [2, 3])
    }

    @Test func theAnswerOfAQueryThatHasBegunIsKept() throws {
        var machine = Machine(lifetime: .seconds(60))
        let ticket = try wait(&machine, waiter: 1)
        let begins = machine.begin(ticket.query)
        #expect(begins)
        let abandoned = machine.cancel(ticket)
        #expect(abandoned == nil)
        let meanwhile = lookUp(&machine, waiter: 2)
        #expect(meanwhile == "wait")
        let waiters = answer(&machine, ticket.query, try addresses())
        #expect(waiters == [2])
        let kept = lookUp(&machine)
        #expect(kept == "192.0.2.1")
    }

    @Test func aWaiterFromBeforeAClearDoesNotEndTheLaterQuery() throws {
        var machine = Machine(lifetime: .seconds(60))
        let old = try wait(&machine, waiter: 1)
        machine.clear()
        let new = try wait(&machine, waiter: 2)
        let abandoned = machine.cancel(old)
        #expect(abandoned == old.query)
        let meanwhile = lookUp(&machine, waiter: 3)
        #expect(meanwhile == "wait")
        let waiters = answer(&machine, new.query, try addresses())
        #expect(waiters == [2, 3])
    }

    @Test(arguments: [(Duration.milliseconds(999), "unknown"), (.seconds(1), "ask")])
    func aNameWithoutAddressIsKeptForASecond(after: Duration, expected: String) throws {
        var machine = Machine(lifetime: .seconds(60))
        let query = try ask(&machine)
        _ = answer(&machine, query, .unknown(error))
        let seen = lookUp(&machine, after: after)
        #expect(seen == expected)
    }

    @Test func aFailureIsNotKept() throws {
        var machine = Machine(lifetime: .seconds(60))
        let query = try ask(&machine, waiter: 1)
        _ = lookUp(&machine, waiter: 2)
        let waiters = answer(&machine, query, .failed(error))
        #expect(waiters == [1, 2])
        let next = lookUp(&machine)
        #expect(next == "ask")
    }

    @Test func aLifetimeOfZeroKeepsNothing() throws {
        var machine = Machine(lifetime: .zero)
        for answered in [try addresses(), .unknown(error)] {
            let query = try ask(&machine)
            _ = answer(&machine, query, answered)
            #expect(machine.count == 0)
        }
    }

    @Test func clearingForgetsAnswers() throws {
        var machine = Machine(lifetime: .seconds(60))
        let query = try ask(&machine)
        _ = answer(&machine, query, try addresses())
        machine.clear()
        let next = lookUp(&machine)
        #expect(next == "ask")
    }

    @Test func aQueryFromBeforeAClearAnswersNoLaterLookup() throws {
        var machine = Machine(lifetime: .seconds(60))
        let old = try ask(&machine, waiter: 1)
        machine.clear()
        let new = try ask(&machine, waiter: 2)
        let first = answer(&machine, old, try addresses("192.0.2.1"))
        #expect(first == [1])
        let meanwhile = lookUp(&machine, waiter: 3)
        #expect(meanwhile == "wait")
        let second = answer(&machine, new, try addresses("192.0.2.2"))
        #expect(second == [2, 3])
        let kept = lookUp(&machine)
        #expect(kept == "192.0.2.2")
    }

    @Test func addressesCanBeForgottenButNotThatThereAreNone() throws {
        var machine = Machine(lifetime: .seconds(60))
        let known = try ask(&machine, "a")
        _ = answer(&machine, known, try addresses())
        let unknown = try ask(&machine, "b")
        _ = answer(&machine, unknown, .unknown(error))
        for name in ["a", "b", "c"] { machine.forget(name) }
        let seen = ["a", "b", "c"].map { lookUp(&machine, $0) }
        #expect(seen == ["ask", "unknown", "ask"])
    }

    @Test func theNumberOfNamesIsBounded() throws {
        var machine = Machine(lifetime: .seconds(60), names: 3)
        for (index, name) in ["a", "b", "c", "d", "e"].enumerated() {
            let query = try ask(&machine, name, after: .seconds(index))
            _ = answer(&machine, query, try addresses(), after: .seconds(index))
            #expect(machine.count <= 3)
        }
        // The entry that expires first was evicted.
        let kept = ["c", "d", "e"].map { lookUp(&machine, $0, after: .seconds(5)) }
        #expect(kept == ["192.0.2.1", "192.0.2.1", "192.0.2.1"])
        #expect(machine.count == 3)
    }

    @Test func expiredNamesMakeRoomFirst() throws {
        var machine = Machine(lifetime: .seconds(60), names: 2)
        for name in ["a", "b"] {
            let query = try ask(&machine, name)
            _ = answer(&machine, query, try addresses())
        }
        let query = try ask(&machine, "c", after: .seconds(61))
        _ = answer(&machine, query, try addresses(), after: .seconds(61))
        #expect(machine.count == 1)
    }

    /// Compares with a model of the expiry times: no answer is older than its lifetime or from before a clear, and
    /// every waiter is answered once.
    @Test(arguments: 1...20)
    func anyOrderOfEventsKeepsTheInvariants(seed: UInt64) throws {
        var random = Generator(state: seed)
        var machine = Machine(lifetime: .seconds(10), names: 4)
        var queries: [(query: Machine.Query, name: String)] = []
        var tickets: [Int: Machine.Ticket] = [:]
        var waiting: Set<Int> = []
        var answered: [String: Duration] = [:]
        var now = Duration.zero
        for waiter in 0..<2000 {
            now += .seconds(Int.random(in: 0...2, using: &random))
            let name = "host\(Int.random(in: 0..<8, using: &random))"
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                machine.clear()
                answered = [:]
            case 1...4 where !queries.isEmpty:
                let (query, name) = queries.remove(at: Int.random(in: 0..<queries.count, using: &random))
                let told = answer(&machine, query, try addresses(), after: now)
                #expect(Set(told).count == told.count)
                #expect(waiting.isSuperset(of: told))
                waiting.subtract(told)
                for waiter in told { tickets[waiter] = nil }
                answered[name] = now
            case 5:
                guard let leaving = tickets.keys.min(), let ticket = tickets.removeValue(forKey: leaving) else { break }
                waiting.remove(leaving)
                let abandoned = machine.cancel(ticket)
                #expect((abandoned == nil) == tickets.values.contains { $0.query == ticket.query })
                queries.removeAll { $0.query == abandoned }
            default:
                switch machine.lookUp(name, waiter: waiter, now: Self.start + now) {
                case .answer: #expect(now - (answered[name] ?? .seconds(-100)) < .seconds(10))
                case .wait(let ticket):
                    waiting.insert(waiter)
                    tickets[waiter] = ticket
                case .ask(let ticket):
                    waiting.insert(waiter)
                    tickets[waiter] = ticket
                    queries.append((ticket.query, name))
                }
            }
            #expect(machine.count <= 4)
        }
        for (query, _) in queries { waiting.subtract(answer(&machine, query, try addresses(), after: now)) }
        #expect(waiting.isEmpty)
    }

    /// xorshift64.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
    }
}
