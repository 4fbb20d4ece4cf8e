import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite struct MonitorPhaseTests {
        @Test func aStartThatFailsLeavesTheMonitorStopped() {
            var phase = MonitorPhase()
            #expect(phase.beginStart() == 1)
            #expect(phase.beginStart() == nil)
            phase.abandonStart()
            #expect(phase.membership == nil)
            #expect(phase.stop() == nil)
            #expect(phase.beginStart() == 2)
        }

        @Test func aStopDuringAStartEndsIt() throws {
            let hub = StatusHub(status: .unknown)
            let publisher = hub
            let membership = try EngineMembership(of: .network, .init(), .system, to: publisher, run: 1)
            var phase = MonitorPhase()
            #expect(phase.beginStart() == 1)
            let end = phase.stop()
            let stopped = try #require(end)
            #expect(stopped.run == 1)
            #expect(stopped.membership == nil)
            #expect(phase.stop() == nil)
            #expect(phase.finishStart(membership) == false)
            #expect(phase.membership == nil)
            membership.leave()
            #expect(phase.beginStart() == 2)
        }

        @Test func stopEndsTheLatestRun() throws {
            let hub = StatusHub(status: .unknown)
            let publisher = hub
            var phase = MonitorPhase()
            for run in UInt64(1)...3 {
                #expect(phase.beginStart() == run)
                let membership = try EngineMembership(of: .network, .init(), .system, to: publisher, run: run)
                #expect(phase.finishStart(membership) == true)
                let end = phase.stop()
                let stopped = try #require(end)
                #expect(stopped.run == run)
                #expect(stopped.membership != nil)
                membership.leave()
            }
        }
    }
}
