import FoundationEssentials
import LinnetSecurity
import Testing

@testable import LinnetTransport

@Suite("TLS session cache", .leavesNothingAlive, .timeLimit(.minutes(1)))
struct TLSSessionCacheTests {
    private typealias Machine = TLSSessionCacheMachine<Int>
    private static let start = Date(timeIntervalSince1970: 1_000_000_000)
    private static let policy = SecurityPolicy.systemTrust.identity
    private static let day: TimeInterval = 86_400

    private func key(
        host: String = "a", port: Int = 443, policy: SecurityPolicy.Identity = policy,
        protocols: [String] = ["http/1.1"], client: ClientIdentity.ID? = nil,
        proxy: Proxy? = nil
    ) -> TLSSessionKey {
        TLSSessionKey(
            host: host, port: port, policy: policy, applicationProtocols: protocols, clientIdentity: client,
            proxy: proxy.map { ProxyServer($0) })
    }

    private func ticket(
        _ session: Int, lifetime: TimeInterval = 7200, isSingleUse: Bool = true, validUntil: Date? = .distantFuture,
        judged: Date = start, received: Date = start
    ) -> TLSSessionTicket<Int>? {
        TLSSessionTicket(
            session, lifetime: lifetime, isSingleUse: isSingleUse,
            trust: VerifiedTrust(chain: [], pins: [], isPinned: false, validUntil: validUntil), judged: judged,
            received: received)
    }

    /// A machine for the policy, with tickets.
    private func machine(_ tickets: [Int] = [], _ configured: Machine = Machine()) throws -> Machine {
        var machine = configured
        #expect(take(&machine) == nil)
        for number in tickets { machine.store(try #require(ticket(number)), key()) }
        return machine
    }

    private func take(_ machine: inout Machine, _ key: TLSSessionKey? = nil, after: TimeInterval = 0) -> Int? {
        machine.take(key ?? self.key(), now: Self.start + after)?.ticket.session
    }

    // MARK: Tickets

    @Test(arguments: [
        (0.0, true), (7199, true), (7200, false), (-1, false), (100_000, false),
    ])
    func aTicketIsUsableForItsLifetime(after: TimeInterval, isUsable: Bool) throws {
        let made = try #require(ticket(1))
        #expect(made.isUsable(at: Self.start + after) == isUsable)
    }

    @Test func aTicketIsUsableForADayAtMost() throws {
        let made = try #require(ticket(1, lifetime: 7 * Self.day))
        #expect(made.isUsable(at: Self.start + Self.day - 1))
        #expect(!made.isUsable(at: Self.start + Self.day))
    }

    @Test func theDayIsCountedFromTheVerdict() throws {
        let later = Self.start + Self.day - 10
        let made = try #require(ticket(1, judged: Self.start, received: later))
        #expect(made.isUsable(at: later + 9))
        #expect(!made.isUsable(at: later + 10))
    }

    @Test func aTicketIsUsableAsLongAsTheVerdictHolds() throws {
        let made = try #require(ticket(1, validUntil: Self.start + 60))
        #expect(made.isUsable(at: Self.start + 59))
        #expect(!made.isUsable(at: Self.start + 60))
        #expect(!made.isTrusted(at: Self.start + 60))
    }

    @Test func ticketsOfNoUseAreNotMade() {
        #expect(ticket(1, lifetime: 0) == nil)
        #expect(ticket(1, lifetime: -1) == nil)
        #expect(ticket(1, lifetime: .nan) == nil)
        #expect(ticket(1, validUntil: nil) == nil)
        #expect(ticket(1, validUntil: Self.start) == nil)
        // A NaN date has no description, which `#expect` would use.
        let isMade = ticket(1, validUntil: Date(timeIntervalSince1970: .nan)) != nil
        #expect(!isMade)
        #expect(ticket(1, judged: Self.start + 1) == nil)
        #expect(ticket(1, judged: Self.start - Self.day) == nil)
    }

    // MARK: Keys

    @Test func onlyTheSameKeyFindsATicket() throws {
        for other in [
            key(host: "b"), key(port: 444), key(protocols: ["h2", "http/1.1"]), key(protocols: []),
            key(client: .next()), key(proxy: try Proxy("http://proxy.example")),
        ] {
            var machine = try machine([1])
            #expect(take(&machine, other) == nil)
            #expect(take(&machine) == 1)
        }
    }

    @Test func anotherPolicyDropsEverything() throws {
        let other = SecurityPolicy.everyHost(.refuse).identity
        var machine = try machine([1, 2])
        #expect(take(&machine, key(policy: other)) == nil)
        #expect(machine.count == 0)
        #expect(take(&machine) == nil)
    }

    @Test func aConnectionOfAReplacedPolicyLeavesNothingBehind() throws {
        let other = SecurityPolicy.everyHost(.refuse).identity
        var machine = try machine()
        #expect(take(&machine, key(policy: other)) == nil)
        machine.store(try #require(ticket(1)), key())
        #expect(machine.count == 0)
    }

    // MARK: Use

    @Test func theNewestIsOfferedFirstAndOnce() throws {
        var machine = try machine([1, 2, 3])
        #expect((0..<4).map { _ in take(&machine) } == [3, 2, 1, nil])
        #expect(machine.count == 0)
    }

    @Test func aReusableTicketIsKept() throws {
        var machine = try machine()
        machine.store(try #require(ticket(1, isSingleUse: false)), key())
        #expect((0..<3).map { _ in take(&machine) } == [1, 1, 1])
        let number = try #require(machine.take(key(), now: Self.start)?.number)
        machine.discard(number, key())
        #expect(take(&machine) == nil)
        #expect(machine.count == 0)
        machine.discard(number, key())
        #expect(machine.count == 0)
    }

    @Test func expiredTicketsGo() throws {
        var machine = try machine([1])
        machine.store(try #require(ticket(2, lifetime: 60)), key())
        machine.store(try #require(ticket(3, lifetime: 30)), key())
        #expect(take(&machine, after: 45) == 2)
        #expect(machine.count == 1)
        #expect(take(&machine, after: 7200) == nil)
        #expect(machine.count == 0)
    }

    // MARK: Bounds

    @Test func aKeyHasEightTickets() throws {
        var machine = try machine(Array(1...10))
        #expect(machine.count == 8)
        #expect((0..<9).map { _ in take(&machine) } == [10, 9, 8, 7, 6, 5, 4, 3, nil])
    }

    @Test func thereAreAThousandTicketsAtMost() throws {
        var machine = try machine()
        for number in 0..<3000 {
            machine.store(try #require(ticket(number)), key(host: "host\(number / 2)"))
            #expect(machine.count <= 1000)
        }
        #expect(machine.count == 1000)
        #expect(take(&machine, key(host: "host999")) == nil)
        #expect(take(&machine, key(host: "host1000")) == 2001)
        #expect(take(&machine, key(host: "host1499")) == 2999)
    }

    @Test func theLeastRecentlyUsedGoesFirst() throws {
        var machine = try machine([], Machine(ticketsPerKey: 8, tickets: 3))
        for host in ["a", "b", "c"] {
            machine.store(try #require(ticket(1, isSingleUse: false)), key(host: host))
        }
        #expect(take(&machine, key(host: "a")) == 1)
        machine.store(try #require(ticket(1, isSingleUse: false)), key(host: "d"))
        #expect(["a", "b", "c", "d"].map { take(&machine, key(host: $0)) } == [1, nil, 1, 1])
    }
}
