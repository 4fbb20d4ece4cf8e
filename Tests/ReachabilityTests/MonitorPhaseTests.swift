import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite struct MonitorPhaseTests {
        @Test func aStartThatFailsLeavesTheMonitorStopped() {
            var phase = MonitorPhase()
            #expect(phase.beginStart() == true)
            #expect(phase.beginStart() == false)
            phase.abandonStart()
            #expect(phase.membership == nil)
            #expect(phase.stop() == nil)
            #expect(phase.beginStart() == true)
        }

        @Test func aStopDuringAStartEndsIt() throws {
            let hub = StatusHub(status: .unknown)
            let publisher = MonitorPublisher(hub: hub, monitor: ObjectIdentifier(hub))
            let membership = try EngineMembership(.network, .init(), .system, publisher)
            var phase = MonitorPhase()
            #expect(phase.beginStart() == true)
            #expect(phase.stop() == nil)
            #expect(phase.finishStart(membership) == false)
            #expect(phase.membership == nil)
            membership.leave()
            #expect(phase.beginStart() == true)
        }
    }
}
