import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import LinnetTransport

/// Lookups that wait for a thread: abandoned ones are never made, and their number is bounded.
@Suite("The threads of name lookups", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct LookupThreadsTests {
    /// Starts no threads: their functions run when the test says so, on its thread.
    private final class Later: Sendable {
        private let bodies = Mutex<[@Sendable () -> Void]>([])

        var count: Int { bodies.withLock { $0.count } }

        func add(_ body: @escaping @Sendable () -> Void) -> Bool {
            bodies.withLock { $0.append(body) }
            return true
        }

        func run() {
            let bodies = bodies.withLock { bodies in
                defer { bodies = [] }
                return bodies
            }
            for body in bodies { body() }
        }
    }

    /// Records the names that are resolved.
    private final class Recording: Sendable {
        private let resolved = Mutex<[String]>([])

        var names: [String] { resolved.withLock { $0 } }

        func lookUp(_ host: String) -> NameAnswer {
            resolved.withLock { $0.append(host) }
            return .unknown(TransportError(.nameResolutionFailed, host))
        }
    }

    /// Collects the answers to lookups.
    private final class Answers: Sendable {
        private let errors = Mutex<[TransportError]>([])

        var messages: [String] { errors.withLock { $0.map(\.message) } }
        var codes: [TransportError.Code] { errors.withLock { $0.map(\.code) } }

        func add(_ answer: NameAnswer) {
            switch answer {
            case .addresses: break
            case .unknown(let error), .failed(let error): errors.withLock { $0.append(error) }
            }
        }
    }

    private let later = Later()
    private let resolver = Recording()
    private let answers = Answers()

    private func makeCache(threads: Int = 1, jobs: Int = 1000) throws -> NameCache {
        let threads = LookupThreads(threads: threads, jobs: jobs) { [later] in later.add($0) }
        return try NameCache(TransportConfiguration.Resolution(), on: threads) { [resolver] in resolver.lookUp($0) }
    }

    private func ask(_ names: NameCache, _ host: String) throws -> NameCache.Ticket {
        let lookup = names.lookUp(host) { [answers] in answers.add($0) }
        guard case .waiting(let ticket) = lookup else {
            throw TransportError(.invalidRequest, "\(host) has an answer")
        }
        return ticket
    }

    // MARK: The cache

    @Test func anAbandonedNameIsNeverResolved() throws {
        let names = try makeCache()
        let first = try ask(names, "a.test")
        _ = try ask(names, "b.test")
        names.cancel(first)
        later.run()
        #expect(resolver.names == ["b.test"])
        #expect(answers.messages == ["b.test"])
    }

    @Test func aNameWithAWaiterIsResolved() throws {
        let names = try makeCache()
        let first = try ask(names, "a.test")
        _ = try ask(names, "A.test")
        names.cancel(first)
        later.run()
        #expect(resolver.names == ["a.test"])
        #expect(answers.messages == ["a.test"])
    }

    @Test func anAbandonedNameCanBeAskedForAgain() throws {
        let names = try makeCache()
        names.cancel(try ask(names, "a.test"))
        _ = try ask(names, "a.test")
        later.run()
        #expect(resolver.names == ["a.test"])
        #expect(answers.messages == ["a.test"])
    }

    @Test func tooManyWaitingNamesFailAtOnce() throws {
        let names = try makeCache(jobs: 2)
        let first = try ask(names, "a.test")
        _ = try ask(names, "b.test")
        _ = try ask(names, "B.test")
        #expect(answers.codes.isEmpty)
        _ = try ask(names, "c.test")
        #expect(answers.codes == [.nameResolutionFailed])
        #expect(answers.messages.first?.contains("too many lookups") == true)
        // Abandoned lookups do not count, and the failure is not remembered.
        names.cancel(first)
        _ = try ask(names, "c.test")
        later.run()
        #expect(resolver.names == ["b.test", "c.test"])
        #expect(answers.messages.dropFirst() == ["b.test", "b.test", "c.test"])
    }

    @Test func withoutAThreadTheNamesFail() throws {
        let names = try NameCache(
            TransportConfiguration.Resolution(), on: LookupThreads(threads: 4, jobs: 10, start: { _ in false })
        ) { [resolver] in resolver.lookUp($0) }
        for host in ["a.test", "b.test"] { _ = try ask(names, host) }
        #expect(answers.codes == [.nameResolutionFailed, .nameResolutionFailed])
        #expect(answers.messages.allSatisfy { $0.contains("could not start a thread") })
        #expect(resolver.names.isEmpty)
    }

    // MARK: The lookup of a connection

    @Test func cancellingAConnectionsLookupFailsItsQueries() throws {
        let names = try makeCache()
        let loop = EmbeddedEventLoop()
        let lookup = NameLookup(names, on: loop)
        let futures = [
            lookup.initiateAAAAQuery(host: "a.test", port: 80), lookup.initiateAQuery(host: "a.test", port: 80),
        ]
        lookup.cancelQueries()
        for future in futures {
            let error = #expect(throws: TransportError.self) { try future.wait() }
            #expect(error?.code == .cancelled)
        }
        later.run()
        #expect(resolver.names.isEmpty)
        lookup.cancelQueries()
    }

    @Test(arguments: [true, false])
    func anAbortedAttemptAsksForNoName(abortsFirst: Bool) throws {
        let names = try makeCache()
        let attempt = ConnectAttempt()
        let lookup = NameLookup(names, on: EmbeddedEventLoop())
        if abortsFirst { attempt.abort() }
        attempt.adopt { lookup.cancelQueries() }
        let future = lookup.initiateAAAAQuery(host: "a.test", port: 80)
        if !abortsFirst { attempt.abort() }
        #expect(throws: TransportError.self) { try future.wait() }
        later.run()
        #expect(resolver.names.isEmpty)
    }

    // MARK: The threads

    @Test func threadsAreStartedForWaitingNamesAndEnd() throws {
        let names = try makeCache(threads: 2)
        for host in ["a.test", "b.test", "c.test"] { _ = try ask(names, host) }
        #expect(later.count == 2)
        later.run()
        #expect(resolver.names == ["a.test", "b.test", "c.test"])
        #expect(later.count == 0)
        _ = try ask(names, "d.test")
        #expect(later.count == 1)
        later.run()
        #expect(resolver.names.last == "d.test")
    }

    @Test func manyAbandonedNamesNeedLittleRoom() {
        var queue = LookupQueue<Int>(threads: 1, jobs: 10)
        let owner = ObjectIdentifier(later)
        func id(_ number: Int) -> LookupQueue<Int>.ID { .init(owner: owner, number: UInt64(number)) }
        _ = queue.add(0, id(0))
        for number in 1...1000 {
            _ = queue.add(number, id(number))
            // Every hundredth is kept at first.
            guard !number.isMultiple(of: 100) || number > 800 else { continue }
            let withdrawn = queue.withdraw(id(number))
            #expect(withdrawn == number)
            #expect(queue.orderLength <= 20)
        }
        #expect(queue.count == 9)
        _ = queue.add(1001, id(1001))
        guard case .refused = queue.add(1002, id(1002)) else {
            Issue.record("The queue was full.")
            return
        }
        var taken: [Int] = []
        while let job = queue.next() { taken.append(job) }
        let kept = [0, 100, 200, 300, 400, 500, 600, 700, 800, 1001]
        #expect(taken == kept)
    }

    @Test func onlyTheLastThreadThatCannotBeStartedEndsTheJobs() {
        var queue = LookupQueue<Int>(threads: 2, jobs: 10)
        let owner = ObjectIdentifier(later)
        for number in 1...3 { _ = queue.add(number, .init(owner: owner, number: UInt64(number))) }
        let first = queue.threadFailed()
        #expect(first.isEmpty)
        let second = queue.threadFailed()
        #expect(second == [1, 2, 3])
        #expect(queue.count == 0)
        guard case .startThread = queue.add(4, .init(owner: owner, number: 4)) else {
            Issue.record("No thread is counted.")
            return
        }
    }
}
