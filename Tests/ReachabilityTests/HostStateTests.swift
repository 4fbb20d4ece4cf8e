import Testing

@testable import LinnetReachability

@Suite(.timeLimit(.minutes(1))) struct HostStateTests {
    private let start = ContinuousClock.now
    private let address = NetworkDestination(family: .ipv4, bytes: [192, 0, 2, 1])

    private func at(_ seconds: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

    private func host(_ interval: Duration? = .seconds(300)) throws -> HostState {
        try #require(HostState(.host("example.com", port: 443), interval: interval))
    }

    @Test func aNameIsLookedUpAtOnceAndAtTheInterval() throws {
        var host = try host()
        #expect(host.isResolved == nil)
        #expect(host.takeRequest(at: at(0)) == true)
        #expect(host.takeRequest(at: at(0)) == false)
        #expect(host.finish([address], at: at(1)) == false)
        #expect(host.isResolved == true)
        #expect(host.addresses == [address])
        #expect(host.deadline == at(301))
        #expect(host.takeRequest(at: at(300)) == false)
        #expect(host.takeRequest(at: at(301)) == true)
        #expect(host.deadline == nil)
    }

    @Test func aChangeDuringALookUpLeadsToAnotherOne() throws {
        var host = try host()
        #expect(host.takeRequest(at: at(0)) == true)
        host.noteChange()
        #expect(host.takeRequest(at: at(1)) == false)
        #expect(host.finish([address], at: at(2)) == true)
        #expect(host.finish([address], at: at(3)) == false)
        host.noteChange()
        #expect(host.takeRequest(at: at(4)) == true)
    }

    @Test func aFailureIsRepeatedAfterAGrowingTime() throws {
        var host = try host(.seconds(5))
        var delays: [Duration] = []
        for _ in 0..<5 {
            host.noteChange()
            #expect(host.takeRequest(at: at(0)) == true)
            _ = host.finish(nil, at: at(0))
            #expect(host.isResolved == false)
            delays.append(at(0).duration(to: try #require(host.deadline)))
        }
        #expect(delays == [1, 2, 4, 5, 5].map { .seconds($0) })
        host.noteChange()
        _ = host.takeRequest(at: at(0))
        _ = host.finish([address], at: at(0))
        #expect(host.isResolved == true)
        #expect(host.deadline == at(5))
    }

    @Test func withoutAnIntervalOnlyFailuresHaveADeadline() throws {
        var host = try host(nil)
        _ = host.takeRequest(at: at(0))
        _ = host.finish([address], at: at(0))
        #expect(host.deadline == nil)
        host.noteChange()
        _ = host.takeRequest(at: at(0))
        _ = host.finish([], at: at(0))
        #expect(host.deadline == at(1))
    }

    @Test func anAddressIsNeverLookedUp() throws {
        var host = try #require(HostState(.host("192.0.2.1", port: 443), interval: .seconds(1)))
        #expect(host.isResolved == true)
        #expect(host.addresses == [address])
        host.noteChange()
        #expect(host.takeRequest(at: at(10)) == false)
        #expect(host.deadline == nil)
        #expect(HostState(.network, interval: nil) == nil)
    }
}
