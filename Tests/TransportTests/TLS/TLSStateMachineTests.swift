import CommandSupport
import Testing

@testable import LinnetTransport

@Suite("TLS, as a state machine", .timeLimit(.minutes(1)))
struct TLSStateMachineTests {
    typealias Phase = TLSStateMachine.Phase
    typealias Traffic = TLSStateMachine.Traffic

    enum Event: CaseIterable, Sendable {
        case waitForTurn, takeTurn, start, pauseForTrust, pauseForIdentity, resumeWithTrust, resumeWithIdentity, open
        case failHandshake
        case delivered, receivedCloseNotify, failTraffic, encrypted, closeOutput, close

        /// Passes the event to a machine; returns its answer, if it has one.
        func apply(to machine: inout TLSStateMachine) -> Bool? {
            switch self {
            case .waitForTurn: return machine.waitForTurn()
            case .takeTurn: return machine.takeTurn()
            case .start: return machine.start()
            case .pauseForTrust: return machine.pause(for: .trust)
            case .pauseForIdentity: return machine.pause(for: .identity)
            case .resumeWithTrust: return machine.resume(with: .trust)
            case .resumeWithIdentity: return machine.resume(with: .identity)
            case .open: return machine.open()
            case .failHandshake: return machine.failHandshake()
            case .receivedCloseNotify: return machine.receivedCloseNotify()
            case .failTraffic: return machine.failTraffic()
            case .closeOutput: return machine.closeOutput()
            case .delivered: machine.delivered()
            case .encrypted: machine.encrypted()
            case .close: _ = machine.close()
            }
            return nil
        }
    }

    /// A phase, the events that lead to it, and the events that are possible in it.
    struct Row: Sendable, CustomTestStringConvertible {
        let phase: Phase
        let path: [Event]
        let next: [Event: Phase]
        let receiving: TLSStateMachine.Receiving
        let sending: TLSStateMachine.Sending
        let interruption: TLSStateMachine.Interruption

        var testDescription: String { "\(phase)" }

        var machine: TLSStateMachine {
            path.reduce(into: TLSStateMachine()) { machine, event in _ = event.apply(to: &machine) }
        }
    }

    private static func open(_ traffic: Traffic, _ path: [Event]) -> Row {
        var (read, written, shut) = (traffic, traffic, traffic)
        read.hasRead = true
        written.hasWritten = true
        shut.isOutputClosed = true
        var next: [Event: Phase] = [
            .delivered: .open(read), .encrypted: .open(written), .receivedCloseNotify: .closing, .failTraffic: .failed,
            .close: .closed,
        ]
        if !traffic.isOutputClosed { next[.closeOutput] = .open(shut) }
        return Row(
            phase: .open(traffic), path: [.start, .open] + path, next: next, receiving: .decrypt,
            sending: traffic.isOutputClosed ? .refuse : .encrypt, interruption: .traffic(traffic))
    }

    private static func ended(_ phase: Phase, _ path: [Event]) -> Row {
        Row(phase: phase, path: path, next: [:], receiving: .ignore, sending: .refuse, interruption: .nothing)
    }

    static let table: [Row] = [
        Row(
            phase: .idle, path: [],
            next: [.waitForTurn: .waiting, .start: .handshaking, .failHandshake: .failed, .close: .failed],
            receiving: .ignore, sending: .keep, interruption: .handshake),
        Row(
            phase: .waiting, path: [.waitForTurn],
            next: [.takeTurn: .idle, .failHandshake: .failed, .close: .failed],
            receiving: .ignore, sending: .keep, interruption: .handshake),
        Row(
            phase: .handshaking, path: [.start],
            next: [
                .pauseForTrust: .paused(.trust), .pauseForIdentity: .paused(.identity), .open: .open(Traffic()),
                .failHandshake: .failed, .close: .failed,
            ],
            receiving: .advanceHandshake, sending: .keep, interruption: .handshake),
        Row(
            phase: .paused(.trust), path: [.start, .pauseForTrust],
            next: [.resumeWithTrust: .handshaking, .failHandshake: .failed, .close: .failed],
            receiving: .keep, sending: .keep, interruption: .handshake),
        Row(
            phase: .paused(.identity), path: [.start, .pauseForIdentity],
            next: [.resumeWithIdentity: .handshaking, .failHandshake: .failed, .close: .failed],
            receiving: .keep, sending: .keep, interruption: .handshake),
        open(Traffic(), []),
        open(Traffic(hasWritten: true), [.encrypted]),
        open(Traffic(hasRead: true, hasWritten: true), [.encrypted, .delivered]),
        open(Traffic(hasWritten: true, isOutputClosed: true), [.encrypted, .closeOutput]),
        Row(
            phase: .closing, path: [.start, .open, .receivedCloseNotify], next: [.close: .closed], receiving: .ignore,
            sending: .refuse, interruption: .nothing),
        ended(.closed, [.start, .open, .close]),
        ended(.closed, [.start, .open, .receivedCloseNotify, .close]),
        ended(.failed, [.failHandshake]),
        ended(.failed, [.waitForTurn, .close]),
        ended(.failed, [.start, .pauseForTrust, .close]),
        ended(.failed, [.start, .open, .failTraffic]),
    ]

    @Test(arguments: table)
    func anEventWithoutAPlaceInAPhaseChangesNothingAndSaysSo(row: Row) {
        for event in Event.allCases {
            var machine = row.machine
            #expect(machine.phase == row.phase)
            let answer = event.apply(to: &machine)
            #expect(machine.phase == row.next[event] ?? row.phase, "\(event)")
            if let answer { #expect(answer == (row.next[event] != nil), "\(event)") }
        }
    }

    @Test(arguments: table)
    func aPhaseDeterminesTheEffectOfBytesAndEnds(row: Row) {
        var machine = row.machine
        #expect(machine.receiving == row.receiving)
        #expect(machine.sending == row.sending)
        #expect(machine.interruption == row.interruption)
        expectEqual(machine.close(), row.interruption)
        expectEqual(machine.close(), .nothing)
    }

    @Test func onlyAnUnansweredWriteSuggestsAMissingCertificate() {
        #expect(!Traffic().isUnanswered)
        #expect(Traffic(hasWritten: true).isUnanswered)
        #expect(!Traffic(hasRead: true, hasWritten: true).isUnanswered)
        #expect(!Traffic(hasRead: true).isUnanswered)
    }

    /// A handshake pauses for the chain, for the identity, and for the chain again once the staple has arrived.
    @Test func aHandshakePausesForEachDecision() {
        var machine = TLSStateMachine()
        expectEqual(machine.start(), true)
        for decision in [TLSStateMachine.Decision.trust, .identity, .trust] {
            expectEqual(machine.pause(for: decision), true)
            expectEqual(machine.open(), false)
            expectEqual(machine.resume(with: decision), true)
            expectEqual(machine.resume(with: decision), false)
        }
        expectEqual(machine.open(), true)
        #expect(machine.isOpen)
    }

    /// Random events: data is exchanged only after a handshake in which each decision was made, and an end is final.
    @Test(arguments: 0..<200 as Range<UInt64>)
    func noOrderOfEventsSkipsADecision(seed: UInt64) {
        var random = SplitMix(seed: seed)
        var machine = TLSStateMachine()
        var pending: TLSStateMachine.Decision?
        for _ in 0..<60 {
            guard let event = Event.allCases.randomElement(using: &random) else { return }
            let before = machine.phase
            let isAccepted = event.apply(to: &machine)
            switch event {
            case .pauseForTrust where isAccepted == true: pending = .trust
            case .pauseForIdentity where isAccepted == true: pending = .identity
            case .resumeWithTrust where isAccepted == true, .resumeWithIdentity where isAccepted == true: pending = nil
            default: break
            }
            if machine.isOpen { #expect(pending == nil, "seed \(seed)") }
            if before == .closed || before == .failed { #expect(machine.phase == before, "seed \(seed)") }
        }
    }
}
